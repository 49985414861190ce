import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Download, Page } from "playwright-core";
import { readBatch } from "../../eval/cli/batch.ts";
import { evaluateRequest } from "../../eval/test/evaluate_request.ts";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { ask, importFile, lastAnswers, say, startScriptedAgent, untilStored } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

const list = (page: Page) => page.getByRole("navigation", { name: "Conversations" });

/** The scenarios of a file that `assay-eval run` takes. */
async function scenariosOf(file: { text: string; name: string }) {
  const { body } = await readBatch(file);
  return evaluateRequest(1).parse({ ...body, endpoint: "http://m.example", model_id: "m" })
    .test_batch;
}

async function saved(download: Promise<Download>): Promise<{ name: string; text: string }> {
  const file = await download;
  return {
    name: file.suggestedFilename(),
    text: await Deno.readTextFile((await file.path())!),
  };
}

suite.test(
  "how long ago a conversation was grows while its page is open",
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await ask(page, "an old one");
    await untilStored(page, "an old one");
    await page.clock.install();
    await page.reload();
    await list(page).getByRole("link", { name: /an old one/ }).waitFor();
    await page.clock.fastForward("10:00");
    await list(page).getByText(/^1\d min\. ago$/).waitFor();
  },
);

suite.test("conversations are listed, opened again, renamed and deleted", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await ask(page, "the first one");
  await list(page).getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
  await ask(page, "the second one");
  await becomes(() => list(page).getByRole("listitem").count(), 2);
  await page.reload();
  await page.getByText(/was asked: the second one/).waitFor();
  await list(page).getByRole("link", { name: /the first one/ }).click();
  await page.getByText(/was asked: the first one/).waitFor();

  await list(page).getByRole("button", { name: "Actions for the first one" }).click();
  await checkAccessibilityOfMenu(page);
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await checkAccessibility(page);
  await page.getByLabel("Title").fill("A better name");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await list(page).getByRole("link", { name: /A better name/ }).waitFor();
  await page.reload();
  await list(page).getByRole("link", { name: /A better name/ }).waitFor();

  await list(page).getByRole("button", { name: "Actions for A better name" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await checkAccessibility(page);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
  await becomes(() => list(page).getByRole("listitem").count(), 1);
  await page.reload();
  await list(page).getByRole("link", { name: /the second one/ }).waitFor();
  await becomes(() => list(page).getByRole("listitem").count(), 1);
});

/** The menu closes when the window changes its size, so only the present one is looked at. */
async function checkAccessibilityOfMenu(page: Page): Promise<void> {
  await page.getByRole("menuitem").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
}

suite.test("many conversations can be searched", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  for (const text of ["apple", "banana", "cherry", "date", "elder", "fig"]) {
    await page.goto(url);
    await ask(page, text);
  }
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("ERR");
  await becomes(() => list(page).getByRole("listitem").count(), 1);
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByText("No conversation has this in its title or texts.").waitFor();
  await checkAccessibility(page);
});

suite.test(
  "a conversation's address works in this browser and says so in another",
  async ({ url }, open) => {
    await using tab = await open(url);
    await ask(tab.page, "keep this");
    await untilStored(tab.page, "was asked: keep this");
    const address = tab.page.url();
    const second = await tab.page.context().newPage();
    await second.goto(address);
    await second.getByText(/was asked: keep this/).waitFor();
    await using other = await open(address);
    await other.page.getByRole("heading", { name: "This conversation is not in this browser" })
      .waitFor();
    await checkAccessibility(other.page);
  },
);

suite.test("two tabs that write at the same time lose nothing", async ({ url }, open) => {
  await using tab = await open(url);
  await ask(tab.page, "start");
  await untilStored(tab.page, "was asked: start");
  const second = await tab.page.context().newPage();
  await second.addInitScript(() => { // it does not hear of the other tab's message in time
    BroadcastChannel.prototype.postMessage = () => {};
    Object.defineProperty(BroadcastChannel.prototype, "onmessage", { set() {} });
    BroadcastChannel.prototype.addEventListener = () => {};
  });
  await second.goto(tab.page.url());
  await second.getByText(/was asked: start/).waitFor();
  await ask(tab.page, "from the first tab");
  await ask(second, "from the second tab");
  await untilStored(second, "was asked: from the second tab");
  await tab.page.reload();
  await tab.page.getByText("2 / 2").waitFor();
  await tab.page.getByText(/was asked: from the second tab/).waitFor();
  await tab.page.getByRole("button", { name: "Previous branch" }).click();
  await tab.page.getByText(/was asked: from the first tab/).waitFor();
});

suite.test(
  "a conversation is exported as JSON and as Markdown, and imported again",
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    await ask(page, "export me");
    await page.getByRole("button", { name: "More", exact: true }).click();
    const markdown = saved(page.waitForEvent("download"));
    await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
    assertEquals((await markdown).name, "export-me.md");
    assertStringIncludes((await markdown).text, "# export me\n\n**You:**\n\nexport me\n");
    await page.getByRole("button", { name: "More", exact: true }).click();
    const json = saved(page.waitForEvent("download"));
    await page.getByRole("menuitem", { name: "Export as JSON" }).click();
    const { text } = await json;

    await using other = await open(url);
    await importFile(other.page, text);
    await other.page.getByText("1 conversation imported.").waitFor();
    await list(other.page).getByRole("link", { name: /export me/ }).click();
    await other.page.getByText(/was asked: export me/).waitFor();
    await ask(other.page, "and go on");

    await list(other.page).getByRole("button", { name: "Import and export" }).click();
    const all = saved(other.page.waitForEvent("download"));
    await other.page.getByRole("menuitem", { name: "Export all" }).click();
    assertEquals(JSON.parse((await all).text).conversations.length, 1);
  },
);

suite.test("a file that is no export is refused with the reason", async ({ url }, open) => {
  await using tab = await open(url);
  const files: [string, string][] = [
    ["not json", "This file is not JSON."],
    ["{}", "This file was not exported from this page."],
    [
      '{"format":"assay-conversations","conversations":[{}]}',
      "Conversation 1 of the file has no messages.",
    ],
  ];
  for (const [text, reason] of files) {
    await importFile(tab.page, text);
    await tab.page.getByText(reason).waitFor();
  }
});

suite.test("a conversation is saved as a test that assay-eval accepts", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await ask(page, "What are your opening hours?");
  await ask(page, "And on Sunday?");
  await page.getByRole("button", { name: "Save as test" }).click();
  await checkAccessibility(page);
  await page.getByLabel("Scenario id").fill("opening hours");
  await page.getByLabel("Reference reply").first().fill("Nine to five.");
  await page.getByLabel("Turn 2").uncheck();
  const download = saved(page.waitForEvent("download"));
  await page.getByRole("button", { name: "Save as file" }).click();
  const { name, text } = await download;
  assertEquals(name, "opening-hours.json");
  const [scenario] = await scenariosOf({ text, name });
  assertEquals(scenario?.id, "opening hours");
  assertEquals(
    scenario?.interactions.map(({ user_message, reference_reply }) => [
      user_message,
      reference_reply,
    ]),
    [["What are your opening hours?", "Nine to five."]],
  );
  await page.getByText(`assay-eval run opening-hours.json --endpoint ${url}`).waitFor();
  await page.getByLabel("Turn 1").uncheck();
  await becomes(() => page.getByRole("button", { name: "Save as file" }).isDisabled(), true);
});

suite.test("a test keeps the tool calls and the system prompt, unless they are taken out", async (
  { url },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("System prompt").fill("Be exact.");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await ask(page, "calculate 6 * 7");
  await page.getByRole("button", { name: "Save as test" }).click();
  async function save() {
    const download = saved(page.waitForEvent("download"));
    await page.getByRole("button", { name: "Save as file" }).click();
    const [scenario] = await scenariosOf(await download);
    const tools = scenario?.interactions[0]?.reference_tools?.map(({ name }) => name);
    return [scenario?.system_prompt, tools];
  }
  await becomes(() => page.getByLabel("System prompt").inputValue(), "Be exact.");
  assertEquals(await save(), ["Be exact.", ["calculator"]]);
  await page.getByLabel(/^Expect the same tool calls: calculator/).uncheck();
  await page.getByLabel("System prompt").fill("");
  assertEquals(await save(), [undefined, undefined]);
});

suite.test(
  "a conversation is handed over to a dashboard, whose address is asked once",
  async ({ url }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    const openDialog = async () => {
      await page.getByRole("button", { name: "Save as test" }).click();
    };
    await ask(page, "What are your opening hours?");
    await openDialog();
    const address = page.getByLabel("Dashboard of assay-eval");
    assertEquals(await address.inputValue(), "http://127.0.0.1:8080"); // as `deno task dev` has it
    await address.fill("javascript:pwned()");
    await page.getByText("Enter an address such as http://127.0.0.1:8080.").waitFor();
    assertEquals(
      await page.getByRole("button", { name: "Add to a dataset" }).isDisabled(),
      true,
    );
    await checkAccessibility(page);
    await address.fill(`${url.replace("http://", "")}/ui/runs`);
    await page.getByLabel("Reference reply").fill("Nine to five.");
    const link = page.getByRole("link", { name: "Add to a dataset" });
    assertEquals(await link.getAttribute("rel"), "noopener");
    const opening = page.waitForEvent("popup");
    await link.click();
    const other = new URL((await opening).url());
    assertEquals(other.origin + other.pathname, `${url}/ui/datasets/add`);
    const scenario = JSON.parse(decodeURIComponent(other.hash.replace("#scenario=", "")));
    assertEquals(scenario.interactions[0].reference_reply, "Nine to five.");

    await page.reload();
    await openDialog();
    await becomes(() => address.inputValue(), url);
    await checkAccessibility(page);
  },
);

suite.test("on a narrow screen the list lies over the page and closes", async ({ url }, open) => {
  await using tab = await open(url, { viewport: { width: 360, height: 740 } });
  const { page } = tab;
  await ask(page, "narrow");
  assertEquals(await list(page).isVisible(), false);
  await page.getByRole("button", { name: "Conversations" }).click();
  await list(page).getByRole("link", { name: /narrow/ }).waitFor();
  await page.getByRole("button", { name: "Close the list" }).click();
  await becomes(() => list(page).isVisible(), false);
  for (const _ of ["leads to it", "is there already"]) {
    await page.getByRole("button", { name: "Conversations" }).click();
    await list(page).getByRole("link", { name: "New conversation" }).click();
    await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
    await becomes(() => list(page).isVisible(), false);
  }
});

suite.test("an answer goes on while another conversation is shown", async ({ url, hub }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await say(page, "hold in the background");
  await page.getByText("The beginning.").waitFor();
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
  hub.release();
  await ask(page, "meanwhile");
  await list(page).getByRole("link", { name: /hold in the background/ }).click();
  await lastAnswers(page).getByText(/was asked: hold in the background/).waitFor();
});

suite.test("a reload while a conversation is being saved loses nothing", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await ask(page, "saved");
  await untilStored(page, "was asked: saved");
  // Whoever saves waits for this transaction, which lasts as long as the page.
  await page.evaluate(async () => {
    const database: IDBDatabase = await new Promise((resolve) => {
      const opening = indexedDB.open("assay-chat");
      opening.onsuccess = () => resolve(opening.result);
    });
    const store = database.transaction("conversations", "readwrite").objectStore("conversations");
    const goOn = () => void (store.count().onsuccess = goOn);
    goOn();
  });
  await ask(page, "not saved yet");
  await page.waitForTimeout(1_000); // until the page has begun to save
  await page.reload();
  await page.getByText(/was asked: not saved yet/).waitFor();
});

suite.test("500 conversations are imported at once, or none, and found by their texts", async (
  { url },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  const conversation = (index: number) => ({
    id: `c${index}`,
    createdAt: index,
    changedAt: index,
    models: ["demo/assistant"],
    settings: { systemPrompt: "", usesTools: true },
    turns: {
      t: {
        id: "t",
        parent: null,
        text: `Question ${index}`,
        answers: [{
          model: "demo/assistant",
          status: "done",
          parts: [{ type: "text", text: `needle-${index} `.repeat(50) }],
        }],
        sentAt: index,
        changedAt: index,
      },
    },
    shown: { "": "t" },
  });
  const file = (conversations: unknown[]) =>
    JSON.stringify({ format: "assay-conversations", version: 1, conversations });
  const many = Array.from({ length: 500 }, (_, index) => conversation(index));
  await importFile(page, file([...many, { turns: {} }]));
  await page.getByText("Conversation 501 of the file has no messages.").waitFor();
  const items = page.getByRole("navigation").getByRole("listitem");
  assertEquals(await items.count(), 0);
  const said = page.evaluate(() =>
    new Promise<string[]>((resolve) => {
      const toasts = document.querySelector(".toasts")!;
      const all: string[] = [];
      new MutationObserver(() => {
        all.push(toasts.lastElementChild?.textContent ?? "");
        if (all.at(-1)?.includes("imported")) resolve(all);
      }).observe(toasts, { childList: true, subtree: true, characterData: true });
    })
  );
  await importFile(page, file(many));
  assertEquals((await said).includes("Importing 500 conversations…"), true);
  assertEquals(await page.getByText("Importing 500").count(), 0);
  await becomes(() => items.count(), 500);
  await page.getByLabel("Search conversations").fill("needle-123");
  await becomes(() => items.count(), 1);
  await items.getByRole("link", { name: /Question 123/ }).waitFor();
  await page.reload();
  await becomes(() => items.count(), 500);
});
