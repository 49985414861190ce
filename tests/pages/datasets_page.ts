import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture, untilCompleted } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(() => startEvalFixture());

const SCENARIO = {
  id: "from-the-chat",
  description: "What a person asked",
  interactions: [{ id: "1", user_message: "Do you ship?", reference_reply: "Yes, everywhere." }],
};

const saved = (page: Page) => page.getByRole("heading", { name: "The dataset is saved" }).waitFor();

suite.test(
  "no dataset yet is an invitation, and one is uploaded from a file",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/datasets`);
    const { page } = tab;
    await page.getByRole("heading", { name: "No datasets yet" }).waitFor();
    await checkAccessibility(page);
    await page.getByRole("main").getByRole("link", { name: "New dataset" }).last().click();
    await page.waitForURL("**/ui/datasets/new");
    await checkAccessibility(page);
    await page.getByLabel("Content file").setInputFiles({
      name: "support.jsonl",
      mimeType: "application/jsonl",
      buffer: Buffer.from(SUPPORT_BATCH.map((one) => JSON.stringify(one)).join("\n")),
    });
    await page.getByText("10 scenarios", { exact: true }).waitFor();
    await becomes(() => page.getByLabel("Name").inputValue(), "support");
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Save" }).click();
    await saved(page);
    await checkAccessibility(page);
    await page.getByRole("link", { name: "Look at it" }).click();
    await page.getByRole("heading", { name: "support", exact: true }).waitFor();
    await page.locator(".scenarios summary").nth(9).waitFor();
  },
);

suite.test(
  "a table becomes a dataset by what its columns are, whatever separates them",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/datasets/new`);
    const { page } = tab;
    tab.expect(/400/);
    const content = page.getByLabel("Content", { exact: true });
    await content.fill("Frage;answer\nMay I, please?;Yes");
    await page.getByText(/there is no column user_message/).waitFor();
    await page.getByLabel("Column Frage").selectOption("user_message");
    await page.getByLabel("Column answer").selectOption("reference_reply");
    await page.getByText("May I, please?", { exact: true }).last().waitFor();
    await page.getByLabel("Name").fill("no such/name");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must have 1 to 100 letters").waitFor();
    await checkAccessibility(page);
    await page.getByLabel("Name").fill("table");
    await page.getByRole("button", { name: "Save" }).click();
    await saved(page);
    await page.goto(`${fixture.url}/ui/dataset/table`);
    await page.locator(".scenarios summary").click();
    await page.getByText("May I, please?", { exact: true }).last().waitFor();
  },
);

suite.test(
  "files of other tools are taken over, and what is left out is said",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/datasets/new`);
    const { page } = tab;
    tab.expect(/400/);
    await page.getByLabel("Name").fill("promptfoo");
    await page.getByLabel("Content", { exact: true }).fill("tests: [");
    await page.getByText(/Cannot use the file/).waitFor();
    await page.getByLabel("Content", { exact: true }).fill(
      "prompts: ['{{q}}']\ntests:\n  - vars: { q: Hello! }\n    assert:\n      - { type: contains, value: Hello }\n      - { type: javascript, value: 'true' }\n",
    );
    await page.getByText("Some of the file has no counterpart here").waitFor(); // the preview
    await page.getByRole("button", { name: "Save" }).click();
    await saved(page);
    await page.getByText("Some of the file has no counterpart here").waitFor();
  },
);

suite.test("a file too large for a preview is used, and one that is not UTF-8 is refused", async (
  fixture,
  open,
) => {
  await using tab = await open(`${fixture.url}/ui/datasets/new`);
  const { page } = tab;
  tab.expect(/400/);
  const content = page.getByLabel("Content", { exact: true });
  const choose = async (name: string, buffer: Buffer) => {
    const choosing = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose a file" }).click();
    await (await choosing).setFiles({ name, mimeType: "text/plain", buffer });
  };
  const table = "user_message;reference_reply\nGrüße;Hallo";
  await choose("excel.csv", Buffer.from(table, "latin1"));
  await page.getByText(/damaged, or not UTF-8/).waitFor();
  await choose("excel.csv", Buffer.from(table));
  await page.getByText("Grüße").last().waitFor();
  const scenario = (id: number) => ({
    id: `s${id}`,
    interactions: [{ id: "1", user_message: "Hello! ".repeat(140) }],
  });
  const text = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => scenario(index)));
  await choose("large.json", Buffer.from(text));
  await becomes(() => content.inputValue().then((value) => value.startsWith("large.json, ")), true);
  await checkAccessibility(page, { isQuick: true });
  await page.getByRole("button", { name: "Remove the file" }).click();
  await untilFocused(content);
  await content.fill(text); // as if it was pasted
  await becomes(() => content.inputValue().then((value) => value.startsWith("The pasted")), true);
  await untilFocused(content);
  await page.getByLabel("Name").fill("large");
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  await page.getByText("5,000 scenarios").waitFor();
});

suite.test(
  "the datasets are listed and searched; one is run, downloaded and deleted",
  async (fixture, open) => {
    await fixture.putDataset("one-of-many", SUPPORT_BATCH.slice(0, 2));
    await fixture.putDataset("another", SUPPORT_BATCH.slice(0, 1));
    await using tab = await open(`${fixture.url}/ui/datasets`);
    const { page } = tab;
    await page.getByRole("link", { name: "one-of-many" }).waitFor();
    await checkAccessibility(page);
    await page.keyboard.press("/");
    await page.keyboard.type("OF-MANY");
    await page.waitForURL(/q=OF-MANY/);
    await becomes(() => page.locator("table.runs tbody tr").count(), 1);
    await page.getByLabel("Search the datasets").fill("nothing");
    await page.getByRole("heading", { name: "No dataset fits" }).waitFor();
    await page.getByRole("button", { name: "Show all datasets" }).click();
    for (const [item, ending] of [["JSONL", "jsonl"], ["JSON", "json"]] as const) {
      await page.getByRole("button", { name: "Actions for one-of-many" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: new RegExp(`^${item}(,|$)`) }).click(),
      ]);
      assertEquals(download.suggestedFilename(), `one-of-many.${ending}`);
      const text = await Deno.readTextFile((await download.path())!);
      const scenarios = ending === "json" ? JSON.parse(text).test_batch : text.trim().split("\n");
      assertEquals(scenarios.length, 2);
    }
    await page.getByRole("button", { name: "Actions for another" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await checkAccessibility(page);
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The dataset is deleted.").waitFor();
    await page.getByRole("link", { name: "another" }).waitFor({ state: "detached" });
    await page.locator("tr", { hasText: "one-of-many" }).getByRole("link", { name: "Run" }).click();
    await page.waitForURL(/\/ui\/new\?dataset=one-of-many/);
    await page.getByText("--dataset one-of-many").waitFor();
    await checkAccessibility(page);
    await page.getByLabel("Endpoint").fill(fixture.endpoint);
    await page.getByLabel("Model", { exact: true }).fill("studio/support-v3");
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/\/ui\/runs\//);
    await page.getByRole("heading", { name: "one-of-many" }).waitFor();
    await untilCompleted(page);
  },
);

suite.test(
  "a scenario is changed into a new version, and the old one can be looked at and deleted",
  async (fixture, open) => {
    await fixture.putDataset("edited", SUPPORT_BATCH.slice(0, 3));
    await using tab = await open(`${fixture.url}/ui/dataset/edited`);
    const { page } = tab;
    await page.locator(".scenarios summary").nth(1).click();
    await checkAccessibility(page);
    await page.getByRole("button", { name: "Edit order-status" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("User message").fill("Where is order 4712?");
    await dialog.getByRole("button", { name: "Add a turn" }).click();
    await dialog.getByLabel("User message").nth(1).fill("And now?");
    await dialog.getByText("as JSON").first().click();
    await dialog.getByLabel("Scenario as JSON").fill("{");
    await dialog.getByText("This is not JSON").waitFor();
    await checkAccessibility(page);
    const text = JSON.stringify({
      ...SUPPORT_BATCH[1],
      interactions: [{ id: "1", user_message: "Where is 4713?" }, {
        id: "2",
        user_message: "Now?",
      }],
    });
    await dialog.getByLabel("Scenario as JSON").fill(text);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The scenario is saved.").waitFor();
    await page.getByText("Where is 4713?").first().waitFor();
    const rows = page.getByRole("region", { name: "Versions" }).locator("tbody tr");
    await rows.nth(1).waitFor();
    await rows.nth(1).getByRole("link").click();
    await page.getByText("older version").waitFor();
    await page.getByText("Where is order 4711?").first().waitFor();
    await rows.nth(1).getByRole("button").click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The version is deleted.").waitFor();
    await page.getByText("latest version").waitFor();
    await rows.nth(1).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: "Delete the dataset" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL("**/ui/datasets");
  },
);

suite.test(
  "whoever changes a version that was overtaken is told before it is saved",
  async (fixture, open) => {
    await fixture.putDataset("shared-one", SUPPORT_BATCH.slice(0, 2));
    await using tab = await open(`${fixture.url}/ui/dataset/shared-one`);
    const { page } = tab;
    await page.locator(".scenarios summary").first().click();
    await page.getByRole("button", { name: "Edit refund-30-days" }).click();
    await fixture.putDataset("shared-one", SUPPORT_BATCH.slice(0, 4));
    await page.getByLabel("Description").fill("changed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("There is a newer version than the one you change.").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The scenario is saved.").waitFor();
    await page.getByRole("region", { name: "Versions" }).locator("tbody tr").nth(2).waitFor();
  },
);

suite.test(
  "a link hands a scenario over, which is stored once it was looked at",
  async (fixture, open) => {
    const link = `${fixture.url}/ui/datasets/add#scenario=${
      encodeURIComponent(JSON.stringify(SCENARIO))
    }`;
    for (const [ids, expected] of [["from-the-chat", 1], ["from-the-chat-2", 2]] as const) {
      await using tab = await open(link);
      const { page } = tab;
      tab.expect(/404/); // the dataset does not exist yet
      await page.getByLabel("User message").waitFor();
      await becomes(() => Promise.resolve(new URL(page.url()).hash), "");
      await becomes(() => page.getByLabel("User message").inputValue(), "Do you ship?");
      assertEquals(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
      await checkAccessibility(page);
      await page.getByLabel("Name").fill("chats");
      await page.getByLabel("Reference reply").fill(`Yes, ${expected} times.`);
      await page.getByRole("button", { name: "Save" }).click();
      await page.waitForURL(/\/ui\/dataset\/chats/);
      await page.getByText(ids, { exact: true }).first().waitFor();
      const { test_batch } = await (await fetch(`${fixture.url}/datasets/chats`)).json();
      assertEquals(test_batch.length, expected);
      assertEquals(test_batch.at(-1).id, ids);
      assertEquals(test_batch.at(-1).interactions[0].reference_reply, `Yes, ${expected} times.`);
    }
  },
);

suite.test(
  "a link with something else says so, and a scenario can be entered by hand",
  async (fixture, open) => {
    await using tab = await open(
      `${fixture.url}/ui/datasets/add?name=by-hand#scenario=%7B%22id%22:1%7D`,
    );
    const { page } = tab;
    tab.expect(/404/);
    await page.getByText("What was handed over cannot be used.").waitFor();
    await checkAccessibility(page);
    await page.getByLabel("Id", { exact: true }).fill("a");
    await page.getByLabel("User message").fill("Hello!");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(/\/ui\/dataset\/by-hand/);
    await page.getByText("no reference reply").waitFor();
  },
);

suite.test("a browser that cannot iterate a stream shows a dataset, too", async (fixture, open) => {
  await fixture.putDataset("streamed", [SCENARIO]);
  await using tab = await open(`${fixture.url}/ui/no/such/view`);
  const { page } = tab;
  await page.addInitScript(() => { // as Safari is
    delete (ReadableStream.prototype as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator];
  });
  await page.goto(`${fixture.url}/ui/dataset/streamed`);
  await page.getByText(SCENARIO.id, { exact: true }).first().waitFor();
});

suite.test(
  "a training file is checked for the tests of a dataset, and what is held out is not exported",
  async (fixture, open) => {
    await fixture.putDataset("leaky");
    const run = await fixture.evaluate({ dataset: "leaky", attempts: 1 });
    await using tab = await open(`${fixture.url}/ui/dataset/leaky`);
    const { page } = tab;
    const { user_message } = SUPPORT_BATCH[0]!.interactions[0]!;
    const buffer = Buffer.from(`${JSON.stringify({ prompt: user_message, completion: "Yes." })}\n`);
    await page.getByLabel("Training file").setInputFiles({
      name: "train.jsonl",
      mimeType: "application/jsonl",
      buffer,
    });
    await page.getByRole("button", { name: "Check for leaks" }).click();
    await page.getByText("Of 10 scenarios, 1 word for word").waitFor();
    await page.getByRole("group", { name: "Training, row 1" }).getByText(user_message).waitFor();
    await page.getByRole("region", { name: "Checked against" }).getByText("train.jsonl").waitFor();
    await checkAccessibility(page);

    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: "Hold out of training data" }).click();
    await page.getByText("held-out", { exact: true }).waitFor();
    tab.expect(/409/);
    await page.goto(`${fixture.url}/ui/runs/${run}`);
    await page.getByText(/over 9 clean scenarios.*over 1 leaked one/).waitFor();
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("menuitem", { name: "Training: good replies (SFT)" }).click();
    await page.getByText(/its dataset "leaky" is tagged held-out/).waitFor();
  },
);
