import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture, untilCompleted } from "./eval_fixture.ts";
import { startSupportBot, SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const other = await startSupportBot();
  await fixture.putDataset("two", SUPPORT_BATCH.slice(0, 2));
  return {
    ...fixture,
    other: other.baseUrl,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
});

const model = (page: Page) => page.getByRole("combobox", { name: "Model", exact: true });
const chosen = (page: Page) => page.getByRole("list", { name: "Chosen models" }).locator("bdi");
const start = (page: Page) => page.getByRole("button", { name: "Start the run" });

suite.test(
  "a file becomes a dataset, and runs of it are started with several models that are suggested",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`, {
      viewport: { width: 1440, height: 900 },
    });
    const { page } = tab;
    await page.getByText("Choose a dataset first.").waitFor();
    await page.getByRole("button", { name: "New dataset" }).click();
    const dialog = page.getByRole("dialog", { name: "New dataset" });
    await dialog.getByLabel("Content file").setInputFiles({
      name: "our questions.yaml",
      mimeType: "application/yaml",
      buffer: Buffer.from(
        "- id: refund\n  interactions:\n    - id: '1'\n      user_message: I want my money back.\n" +
          "      reference_reply: Of course.\n      reference_metadata: { intent: refund }\n" +
          "      checks: [{ type: max_words, value: 30 }]\n" +
          "      reference_tools: [{ name: find_order }]\n",
      ),
    });
    for (const text of ["intent: refund", "max words 30", "calls find_order"]) {
      await dialog.getByText(text).waitFor(); // the preview
    }
    await dialog.getByRole("button", { name: "Save the dataset" }).click();
    await dialog.waitFor({ state: "detached" });
    await becomes(() => page.getByLabel("Dataset").inputValue(), "our-questions");
    await page.getByText("calls find_order").waitFor();

    await page.getByLabel("Endpoint").fill(fixture.endpoint);
    await page.getByText("Name the model first.").waitFor();
    const options = page.getByRole("listbox", { name: "Models" }).getByRole("option");
    await model(page).focus();
    await becomes(() => options.allTextContents(), ["studio/support-v2", "studio/support-v3"]);
    await checkAccessibility(page, { isQuick: true });
    await page.setViewportSize({ width: 1440, height: 900 });
    await model(page).press("ArrowDown");
    await model(page).press("ArrowDown");
    await model(page).press("Enter");
    assertEquals(await chosen(page).allTextContents(), ["studio/support-v3"]);
    await model(page).fill("v2");
    await options.getByText("studio/support-v2").click();
    await model(page).fill("one, two");
    await becomes(() => chosen(page).count(), 3);
    await model(page).press("Enter");
    assertEquals(
      await chosen(page).allTextContents(),
      ["studio/support-v3", "studio/support-v2", "one", "two"],
    );
    await checkAccessibility(page, { isQuick: true });
    await page.getByRole("button", { name: "Remove one" }).press("Enter");
    await untilFocused(model(page));
    await model(page).press("Backspace");
    await page.getByText("1 scenario, 2 turns to ask").waitFor();
    await page.getByText("--model studio/support-v3 \\").waitFor();

    await page.setViewportSize({ width: 1440, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    const { y, height } = (await start(page).boundingBox())!;
    assert(y + height <= 900, `Start ends at ${y + height} of 900 pixels`);
    await start(page).click();
    await page.waitForURL(/\/ui\/compare\?group=/);
    await page.locator(".verdict .sentence").waitFor();
    const { runs } = await (await fetch(`${fixture.url}/runs?test_name=our-questions`)).json();
    assertEquals(runs.length, 2, "runs are named after the file");
  },
);

suite.test(
  "what is wrong is said at the field, and a form that was refused leads there",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new?dataset=two`, {
      viewport: { width: 360, height: 640 },
    });
    const { page } = tab;
    tab.expect(/400/);
    await page.getByLabel("Endpoint").fill("nonsense");
    await model(page).fill("studio/support");
    await start(page).click();
    await page.getByText("must be an http or https URL").waitFor();
    await untilFocused(page.getByLabel("Endpoint"));
    await checkAccessibility(page);
    await page.getByLabel("Endpoint").fill(fixture.endpoint);
    await page.getByText("must be an http or https URL").waitFor({ state: "detached" });
    await page.getByLabel("Attempts").fill("5000");
    await start(page).press("Enter");
    await untilFocused(page.getByLabel("Attempts"));
    await page.getByText("expected number to be <=1000").waitFor();
    const cases = { Attempts: ["abc", "1.5", "0", "3"], Threshold: ["70%", "0,7", "2", "0.7"] };
    for (const [label, texts] of Object.entries(cases)) {
      const field = page.getByLabel(label);
      for (const text of texts) {
        await field.fill(text);
        const isRight = text === texts.at(-1);
        await becomes(() => field.getAttribute("aria-invalid"), isRight ? null : "true");
        await becomes(() => start(page).isEnabled(), isRight);
      }
    }
  },
);

suite.test(
  "a model that its provider shuts down soon is named below its field",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`);
    const { page } = tab;
    const shutdown_date = new Date(Date.now() + 9 * 86_400_000).toISOString().slice(0, 10);
    await page.route(
      /\/models\?/,
      (route) => route.fulfill({ json: { models: [{ id: "old", shutdown_date }, { id: "new" }] } }),
    );
    await page.getByLabel("Endpoint").fill(fixture.endpoint);
    await model(page).fill("old");
    await page.getByText(`The provider shuts down the model "old" on ${shutdown_date}`).waitFor();
    await model(page).fill("new");
    await page.getByText("The endpoint lists 2 models.").waitFor();
  },
);

suite.test(
  "models at several endpoints run side by side, and what is entered outlives a reload",
  async ({ url, endpoint, other }, open) => {
    await using tab = await open(`${url}/ui/new?dataset=two`);
    const { page } = tab;
    tab.expect(/400/);
    await page.getByLabel("Endpoint").fill(endpoint);
    await page.getByLabel("Test name").fill("half entered");
    await model(page).fill("studio/support-v2");
    await page.getByText("2 scenarios, 3 turns to ask").waitFor();
    await page.getByRole("button", { name: "Add a model at another endpoint" }).press("Enter");
    await untilFocused(page.getByLabel("Endpoint"));
    await page.keyboard.type("nowhere");
    await model(page).fill("studio/support-v3");
    await page.getByText("2 scenarios, 6 turns to ask").waitFor();
    await start(page).click();
    await page.getByText("studio/support-v3: must be an http or https URL").waitFor();
    await checkAccessibility(page);
    await page.getByLabel("Endpoint").fill(other);
    await page.reload();
    await becomes(() => page.getByLabel("Test name").inputValue(), "half entered");
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Choose two runs" }).waitFor();
    await page.getByRole("link", { name: "New run" }).first().click();
    assertEquals(await chosen(page).allTextContents(), ["studio/support-v2"]);

    const sent = page.waitForRequest(/\/evaluate$/);
    await start(page).click();
    const { targets, endpoint: first } = (await sent).postDataJSON();
    assertEquals([targets, first], [[
      { endpoint, model_id: "studio/support-v2" },
      { endpoint: other, model_id: "studio/support-v3" },
    ], undefined]);
    await page.waitForURL(/\/ui\/compare\?group=/);
    await page.locator(".verdict .sentence").waitFor();
  },
);

suite.test(
  "a run is run again with one press, or after its fields were changed, with all that it had",
  async (fixture, open) => {
    const fields = { attempts: 1, parameters: { temperature: 0.5, seed: 7 }, judge_votes: 5 };
    const first = await fixture.evaluate(fields);
    await using tab = await open(`${fixture.url}/ui/runs/${first}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForURL((url) => /runs\/.+/.test(url.pathname) && !url.href.includes(first));
    await page.getByText("Against studio/support-v3, the last run of this test").waitFor();
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Edit and run again" }).click();
    await becomes(() => page.getByLabel("Temperature").inputValue(), "0.5");
    assertEquals(await page.getByLabel("Test name").inputValue(), "support");
    await page.getByText("10 scenarios, 12 turns to ask").waitFor();
    await page.getByRole("button", { name: "Remove studio/support-v3" }).click();
    await model(page).fill("studio/support-v2");
    await page.getByLabel("System prompt").fill("Answer in one sentence.");
    await page.getByText("assay-eval run request.json").waitFor();
    await checkAccessibility(page, { isQuick: true });
    await start(page).click();
    await page.waitForURL(/runs\//);
    await untilCompleted(page);
    const id = new URL(page.url()).pathname.split("/").at(-1);
    const request = await (await fetch(`${fixture.url}/runs/${id}/request`)).json();
    assertEquals([request.model_id, request.judge_votes], ["studio/support-v2", 5]);
    const system_prompt = "Answer in one sentence.";
    assertEquals(request.parameters, { temperature: 0.5, seed: 7, system_prompt });
    assertEquals(request.test_batch.length, SUPPORT_BATCH.length);
  },
);

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
