import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture, untilCompleted } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(() => startEvalFixture());

suite.test(
  "a run is started from a table, and what is wrong is said at the field",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`);
    const { page } = tab;
    tab.expect(/400/);
    await page.getByRole("button", { name: "Use an example" }).click();
    await page.getByRole("heading", { name: "Columns" }).waitFor();
    await page.getByLabel("Endpoint").fill("nonsense");
    await page.getByText("Name the model first.").waitFor();
    await page.getByLabel("Model", { exact: true }).fill("studio/support");
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.getByText("must be an http or https URL").waitFor();
    await checkAccessibility(page);
    await page.getByLabel("Endpoint").fill(fixture.endpoint);
    await page.getByLabel("Model", { exact: true }).focus();
    await page.getByText("The endpoint lists 2 models.").waitFor();
    await page.getByLabel("Model", { exact: true }).fill("studio/support-v3");
    await page.getByLabel("What intent is").selectOption("");
    await page.getByText("--model studio/support-v3").waitFor();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/\/ui\/runs\//);
    await untilCompleted(page);
  },
);

suite.test(
  "the field of a model is a picker of what the endpoint lists, by keys and by pointer",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`);
    const { page } = tab;
    await page.getByLabel("Endpoint").fill(fixture.endpoint);
    const model = page.getByRole("combobox", { name: "Model", exact: true });
    const options = page.getByRole("listbox", { name: "Models" }).getByRole("option");
    await model.focus();
    await becomes(() => options.allTextContents(), ["studio/support-v2", "studio/support-v3"]);
    await checkAccessibility(page, { isQuick: true });
    await model.press("ArrowDown");
    await model.press("ArrowDown");
    await model.press("Enter");
    assertEquals(await model.inputValue(), "studio/support-v3");
    await options.first().waitFor({ state: "detached" });
    await model.fill("v2");
    await options.getByText("studio/support-v2").click();
    assertEquals(await model.inputValue(), "studio/support-v2");
    await model.fill("an/other one");
    await options.first().waitFor({ state: "detached" });
    await model.press("Escape");
    assertEquals(await model.inputValue(), "an/other one", "what is not listed can be typed");
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
    const model = page.getByLabel("Model", { exact: true });
    await model.fill("old");
    await page.getByText(`The provider shuts down the model "old" on ${shutdown_date}`).waitFor();
    await model.fill("new");
    await page.getByText("The endpoint lists 2 models.").waitFor();
  },
);

suite.test(
  "what was entered for a run outlives a reload and other views",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`);
    const { page } = tab;
    await page.getByRole("button", { name: "Use an example" }).click();
    await page.getByLabel("What intent is").selectOption("");
    await page.getByLabel("Test name").fill("half entered");
    const isKept = async () => {
      await page.getByRole("heading", { name: "Columns" }).waitFor();
      await becomes(() => page.getByLabel("Test name").inputValue(), "half entered");
      assertEquals(await page.getByLabel("What intent is").inputValue(), "");
    };
    await page.reload();
    await isKept();
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Choose two runs" }).waitFor();
    await page.getByRole("link", { name: "New run" }).first().click();
    await isKept();
  },
);

suite.test(
  "a batch comes from a file, and one that cannot be used says why",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`);
    const { page } = tab;
    const lines = SUPPORT_BATCH.map((scenario) => JSON.stringify(scenario)).join("\n");
    await page.getByLabel("Batch file").setInputFiles({
      name: "batch.jsonl",
      mimeType: "application/jsonl",
      buffer: Buffer.from(lines),
    });
    await page.getByText("The first of 10 scenarios").waitFor();
    await page.getByLabel("Batch", { exact: true }).fill("{");
    await page.getByText("This is not JSON").waitFor();
  },
);

suite.test(
  "a whole request that is pasted runs with everything that it says",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`);
    const { page } = tab;
    await page.getByLabel("Batch", { exact: true }).fill(JSON.stringify({
      test_batch: SUPPORT_BATCH[1],
      endpoint: fixture.endpoint,
      model_id: "studio/support-v3",
      attempts: 3,
      pass_threshold: 0.4,
      rubric: "Be kind.",
      judge_votes: 5,
    }));
    assertEquals(await page.getByLabel("Attempts").inputValue(), "3");
    assertEquals(await page.getByLabel("Threshold").inputValue(), "0.4");
    assertEquals(await page.getByLabel("Rubric").inputValue(), "Be kind.");
    await page.getByLabel("Attempts").fill("2");
    const sent = page.waitForRequest(/\/evaluate$/);
    await page.getByRole("button", { name: "Start the run" }).click();
    const { attempts, pass_threshold, rubric, judge_votes } = (await sent).postDataJSON();
    assertEquals([attempts, pass_threshold, rubric, judge_votes], [2, 0.4, "Be kind.", 5]);
    await page.waitForURL(/\/ui\/runs\//);
    await untilCompleted(page);
  },
);

suite.test(
  "a pasted request with targets runs them as a group, whatever the form says of a model",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/new`);
    const { page } = tab;
    const { endpoint } = fixture;
    await page.getByLabel("Batch", { exact: true }).fill(JSON.stringify({
      test_batch: SUPPORT_BATCH[1],
      targets: [
        { endpoint, model_id: "studio/support-v3", name: "third" },
        { endpoint, model_id: "studio/support-v2" },
      ],
    }));
    await page.getByText("Models of the pasted request").waitFor();
    await page.getByText("third").waitFor();
    assertEquals(await page.getByLabel("Model", { exact: true }).count(), 0);
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/\/ui\/compare\?group=/);
    await page.locator(".verdict .sentence").waitFor();
  },
);

suite.test("a file can be chosen again once it was mended", async (fixture, open) => {
  const path = await Deno.makeTempFile({ suffix: ".csv" });
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  for (const text of ["one", "user_message,reference_reply\nHi,Ho"]) {
    await Deno.writeTextFile(path, text);
    const choosing = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose a file" }).click();
    await (await choosing).setFiles(path);
    await becomes(() => page.getByLabel("Batch", { exact: true }).inputValue(), text);
    // A browser says nothing if the file that the field has is chosen again.
    assertEquals(await page.getByLabel("Batch file").inputValue(), "");
  }
  await Deno.remove(path);
});

suite.test("why a field was refused is not said of what is there now", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  tab.expect(/400/);
  const batch = page.getByRole("textbox", { name: "Batch" });
  await page.getByLabel("Endpoint").fill(fixture.endpoint);
  await batch.fill(JSON.stringify([{ id: "a", interactions: null }]));
  await page.getByLabel("Model", { exact: true }).fill("m");
  await page.getByLabel("Attempts").fill("5000");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.getByText("expected array").waitFor();
  await page.getByText("expected number to be <=1000").waitFor();
  await batch.fill("[]");
  await page.getByText("It must hold scenarios with interactions").waitFor();
  await becomes(() => page.getByText("expected array").count(), 0);
  assertEquals(await page.getByText("expected number to be <=1000").count(), 1);
});

suite.test("a form that was refused leads to what is wrong", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/new`, { viewport: { width: 360, height: 640 } });
  const { page } = tab;
  tab.expect(/400/);
  const start = page.getByRole("button", { name: "Start the run" });
  const batch = page.getByRole("textbox", { name: "Batch" });
  await page.getByLabel("Endpoint").fill(fixture.endpoint);
  await page.getByRole("button", { name: "Use an example" }).click();
  await page.getByLabel("Model", { exact: true }).fill("m");
  await page.getByLabel("Attempts").fill("5000");
  await start.press("Enter");
  await untilFocused(page.getByLabel("Attempts"));

  await page.getByLabel("Attempts").fill("1");
  const targets = [{ endpoint: "nonsense", model_id: "m" }];
  await batch.fill(JSON.stringify({ test_batch: SUPPORT_BATCH, targets }));
  await start.press("Enter");
  const reason = page.getByText("targets.0.endpoint: must be").last();
  await reason.waitFor();
  await untilFocused(start);
  await becomes(() => reason.evaluate((shown) => shown.getBoundingClientRect().top >= 0), true);
  await batch.fill("[]");
  await reason.waitFor({ state: "detached" });

  await page.goto(`${fixture.url}/ui/datasets/new`);
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("a/b");
  await page.getByRole("textbox", { name: "Content" }).fill(JSON.stringify(SUPPORT_BATCH));
  await page.getByRole("button", { name: "Save" }).press("Enter");
  await untilFocused(name);
  await page.getByText("must have 1 to 100 letters").waitFor();
  await name.fill("ab");
  await page.getByText("must have 1 to 100 letters").waitFor({ state: "detached" });
});

suite.test("a request of a dataset that is pasted runs with everything it says", async (
  fixture,
  open,
) => {
  await fixture.putDataset("pasted", SUPPORT_BATCH.slice(0, 1));
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  await page.getByLabel("Batch", { exact: true }).fill(JSON.stringify({
    dataset: "pasted",
    endpoint: fixture.endpoint,
    model_id: "studio/support-v3",
    judge_votes: 5,
  }));
  await becomes(() => page.getByLabel("Dataset").inputValue(), "pasted");
  const sent = page.waitForRequest(/\/evaluate$/);
  await page.getByRole("button", { name: "Start the run" }).click();
  const { dataset, model_id, judge_votes } = (await sent).postDataJSON();
  assertEquals([dataset, model_id, judge_votes], ["pasted", "studio/support-v3", 5]);
  await page.waitForURL(/\/ui\/runs\//);
  await untilCompleted(page);
});

suite.test("a batch too large to be kept leaves the other fields as they are", async (
  fixture,
  open,
) => {
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  await page.getByLabel("Test name").fill("half entered");
  const batch = page.getByLabel("Batch", { exact: true });
  await batch.fill("a text that is kept at first");
  await page.reload();
  await becomes(() => batch.inputValue(), "a text that is kept at first");
  await batch.fill("x".repeat(6_000_000));
  await page.reload();
  await becomes(() => page.getByLabel("Test name").inputValue(), "half entered");
  assertEquals(await batch.inputValue(), "");
});

suite.test("a file that is not UTF-8 is refused, and a dragged text is not swallowed", async (
  fixture,
  open,
) => {
  await using tab = await open(`${fixture.url}/ui/new`);
  const { page } = tab;
  const batch = page.getByLabel("Batch", { exact: true });
  const choose = (bytes: Uint8Array) =>
    page.getByLabel("Batch file").setInputFiles({
      name: "excel.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(bytes),
    });
  const table = "user_message;reference_reply\nGrüße;Hallo";
  const latin1 = Uint8Array.from(table, (letter) => letter.charCodeAt(0));
  await choose(latin1);
  await page.getByText("excel.csv is not a text in UTF-8").waitFor();
  assertEquals(await batch.inputValue(), "");
  await choose(new TextEncoder().encode(table));
  await becomes(() => batch.inputValue(), table);
  assertEquals(await page.getByText("is not a text in UTF-8").count(), 0);

  const isSwallowed = await batch.evaluate((box) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.setData("text/plain", "dragged");
    return !box.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
  });
  assertEquals(isSwallowed, false);
});
