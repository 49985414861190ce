import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(() => startEvalFixture());

suite.test("a number that cannot be used is marked at its field at once", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  await page.getByRole("button", { name: "Use an example" }).click();
  await page.getByLabel("Endpoint").fill(fixture.endpoint);
  await page.getByLabel("Model", { exact: true }).fill("studio/support-v3");
  const cases = { Attempts: ["abc", "1.5", "0", "3"], Threshold: ["70%", "0,7", "2", "0.7"] };
  for (const [label, texts] of Object.entries(cases)) {
    const field = page.getByLabel(label);
    for (const text of texts) {
      await field.fill(text);
      const isRight = text === texts.at(-1);
      await becomes(() => field.getAttribute("aria-invalid"), isRight ? null : "true");
      const start = page.getByRole("button", { name: "Start the run" });
      await becomes(() => start.isEnabled(), isRight);
    }
  }
});

suite.test("a text too large for a box is used without being shown", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  const scenario = (id: string) => ({
    id,
    interactions: [{ id: "1", user_message: "Hello! ".repeat(30) }],
  });
  const scenarios = Array.from({ length: 5_000 }, (_, index) => scenario(`s${index}`));
  const text = JSON.stringify(scenarios);
  await page.getByLabel("Batch file").setInputFiles({
    name: "large.json",
    mimeType: "application/json",
    buffer: Buffer.from(text),
  });
  await page.getByText("The first of 5,000 scenarios").waitFor();
  const batch = page.getByLabel("Batch", { exact: true });
  const described = `A text of ${text.length.toLocaleString("en")} characters`;
  assertEquals(await batch.inputValue(), described);
  await checkAccessibility(page, { isQuick: true });
  await page.getByRole("button", { name: "Remove the text" }).click();
  await untilFocused(batch);
  assertEquals(await batch.inputValue(), "");
  await batch.fill(text); // as if it was pasted
  await becomes(() => batch.inputValue(), described);
  await untilFocused(batch);
});

suite.test("what is dropped and is not one file is refused with the reason", async (
  fixture,
  open,
) => {
  const folder = await Deno.makeTempDir();
  const files = ["one.json", "two.json"].map((name) => `${folder}/${name}`);
  for (const file of files) await Deno.writeTextFile(file, "[]");
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  const { x, y } = (await page.getByLabel("Batch", { exact: true }).boundingBox())!;
  const session = await page.context().newCDPSession(page);
  const drop = async (files: string[]) => {
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      await session.send("Input.dispatchDragEvent", { type, x: x + 20, y: y + 20, data });
    }
  };
  await drop([folder]);
  await page.getByText("cannot be read. It must be a file, not a folder.").waitFor();
  await drop(files);
  await page.getByText("Drop one file only.").waitFor();
  await Deno.remove(folder, { recursive: true });
});

suite.test("a run is run again with one press, or after its fields were changed", async (
  fixture,
  open,
) => {
  const first = await fixture.evaluate({ attempts: 1, parameters: { temperature: 0.5 } });
  await using tab = await open(`${fixture.url}/ui/runs/${first}`);
  const { page } = tab;
  await page.getByRole("button", { name: "Run again" }).click();
  await page.waitForURL((url) => /runs\/.+/.test(url.pathname) && !url.href.includes(first));
  await page.getByText("Against studio/support-v3, the last run of this test").waitFor();
  await page.getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: "Edit and run again" }).click();
  await becomes(() => page.getByLabel("Temperature").inputValue(), "0.5");
  assertEquals(await page.getByLabel("Test name").inputValue(), "support");
  await page.getByLabel("Model", { exact: true }).fill("studio/support-v2");
  await page.getByLabel("System prompt").fill("Answer in one sentence.");
  await page.getByRole("button", { name: "Add a check" }).click();
  await page.getByLabel("The reply").selectOption("max_words");
  await page.getByLabel("Value", { exact: true }).fill("100");
  await checkAccessibility(page);
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/runs\//);
  await page.getByText("0 of 12", { exact: true }).last().waitFor(); // checks not met
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const request = await (await fetch(`${fixture.url}/runs/${id}/request`)).json();
  assertEquals(request.model_id, "studio/support-v2");
  assertEquals(request.parameters, {
    temperature: 0.5,
    system_prompt: "Answer in one sentence.",
  });
  assertEquals(request.test_batch[0].checks, [{ type: "max_words", value: 100 }]);
});

suite.test("a new user sees a comparison of two models after one press", async (fixture, open) => {
  await using empty = await startEvalFixture();
  await using tab = await open(`${empty.url}/ui/no/such/view`);
  const { page } = tab;
  const demo = ["demo/assistant", "a55a9000-de30-4f1e-8a7e-000000000001"];
  await page.route(
    /\/models\?/,
    (route) => route.fulfill({ json: { models: demo.map((id) => ({ id })) } }),
  );
  await page.route(/\/evaluate$/, async (route) => {
    const body = route.request().postDataJSON();
    const endpoint = "http://127.0.0.1:8000";
    assertEquals(body.targets, demo.map((id) => ({ endpoint, model_id: id, name: id })));
    const targets = body.targets.map((target: object) => ({
      ...target,
      endpoint: fixture.endpoint,
    }));
    await route.continue({ postData: JSON.stringify({ ...body, targets }) });
  });
  await page.goto(empty.url);
  await checkAccessibility(page, { isQuick: true });
  await page.getByRole("button", { name: "Try an example" }).click();
  await page.waitForURL(/\/ui\/compare\?group=/);
  await page.locator(".verdict .sentence").waitFor();
  await becomes(() => page.locator(".reply-grid tbody tr").count(), 8);
});
