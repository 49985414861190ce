import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { becomes, pageSuite, untilFocused } from "./browser.ts";
import { ask, lastAnswers, messageBox, say, startScriptedAgent } from "./chat.ts";

const suite = pageSuite(() => startScriptedAgent());

/** More than the page has places for the focus. */
const MANY = 80;

const hasFocus = (locator: Locator) =>
  locator.evaluate((element) => element === document.activeElement);

/** Goes to an element by one key alone, and fails if there is no way. */
async function tabTo(
  locator: Locator,
  key: "Tab" | "Shift+Tab" | "ArrowDown" = "Tab",
): Promise<void> {
  await locator.waitFor();
  for (let pressed = 0; pressed < MANY; pressed++) {
    if (await hasFocus(locator)) return;
    await locator.page().keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${locator}`);
}

async function press(locator: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  await tabTo(locator, key);
  await locator.page().keyboard.press("Enter");
}

/** Chooses an item of the menu that is open. */
async function choose(page: Page, name: string): Promise<void> {
  await tabTo(page.getByRole("menuitem", { name }), "ArrowDown");
  await page.keyboard.press("Enter");
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

async function answered(page: Page): Promise<void> {
  await button(page, "Send").waitFor();
}

suite.test("a conversation is held without a mouse", async ({ url, hub }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const { keyboard } = page;

  await press(button(page, /^Model:/));
  await keyboard.type("model-03");
  await keyboard.press("Enter");
  await button(page, "Model: acme/model-03").waitFor();
  await keyboard.press("/"); // the key for the message box
  await keyboard.type("calculate 2 + 2");
  await keyboard.press("Enter");
  await answered(page);
  assertEquals(hub.requests.at(-1)?.body.model, "acme/model-03");

  await press(page.locator(".tool summary"), "Shift+Tab");
  await page.getByText('"expression": "2 + 2"').waitFor();
  await press(button(page, "Copy answer"));
  await button(page, "Copied").waitFor();
  assertStringIncludes(
    await page.evaluate(() => navigator.clipboard.readText()),
    "was asked: calculate 2 + 2",
  );
  await press(button(page, "Ask again"));
  await page.getByText("2 / 2").waitFor();
  await answered(page);
  await press(button(page, "Previous branch"), "Shift+Tab");
  await page.getByText("1 / 2").waitFor();

  await press(button(page, "Edit message"));
  await untilFocused(page.getByRole("textbox", { name: "Edit message" }));
  await keyboard.press("End");
  await keyboard.type(" + 5");
  await press(page.locator(".question-editor").getByRole("button", { name: "Send" }));
  await page.getByText(/was asked: calculate 2 \+ 2 \+ 5/).waitFor();
  await answered(page);

  await press(button(page, "Answer with a second model side by side"), "Shift+Tab");
  await press(button(page, /^Second model:/));
  await keyboard.type("model-09");
  await keyboard.press("Enter");
  await keyboard.press("/");
  await keyboard.type("hold both");
  await keyboard.press("Enter");
  await lastAnswers(page).nth(1).getByText("The beginning.").waitFor();
  await tabTo(page.getByRole("region", { name: "Conversation" }), "Shift+Tab");
  await keyboard.press("Escape"); // stops the answers from anywhere
  await becomes(() => page.getByText("You stopped this answer.").count(), 2);
  await press(button(page, "Answer with the first model only"), "Shift+Tab");
  await button(page, "Model: acme/model-03").waitFor();

  await press(button(page, "Settings"));
  await tabTo(page.getByLabel("Temperature"));
  await keyboard.type("0.5");
  await keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await untilFocused(button(page, "Settings"));
});

suite.test("conversations are kept in order without a mouse", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const { keyboard } = page;
  await button(page, "Model: support-v3").waitFor();
  await keyboard.type("one");
  await keyboard.press("Enter");
  await page.getByText(/was asked: one/).waitFor();

  await press(button(page, "More"), "Shift+Tab");
  const download = page.waitForEvent("download");
  await choose(page, "Export as JSON");
  assertEquals((await download).suggestedFilename(), "one.json");

  await press(button(page, "Actions for one"), "Shift+Tab");
  await choose(page, "Rename");
  await keyboard.press("Control+a");
  await keyboard.type("Another name");
  await keyboard.press("Enter");
  await page.getByRole("link", { name: /^Another name/ }).waitFor();

  await press(button(page, "Import and export"), "Shift+Tab");
  const chooser = page.waitForEvent("filechooser");
  await choose(page, "Import");
  await chooser;

  await press(button(page, "Actions for Another name"));
  await choose(page, "Delete");
  await press(button(page, "Delete"));
  await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
  await page.getByText("No conversations yet.").waitFor();

  await press(button(page, /^Theme: system/));
  await button(page, /^Theme: light/).waitFor();
  await press(page.getByRole("link", { name: "API reference" }), "Shift+Tab");
  await page.getByRole("navigation", { name: "Routes" }).waitFor();
});

suite.test("the focus stays in the list when conversations are deleted", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  for (const text of ["one", "two", "three"]) {
    await ask(page, text);
    await page.getByRole("link", { name: "New conversation" }).click();
    await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
  }
  for (const [deleted, next] of [["two", "one"], ["one", "three"]] as const) {
    await button(page, `Actions for ${deleted}`).press("Enter");
    await choose(page, "Delete");
    await press(button(page, "Delete"));
    await untilFocused(button(page, `Actions for ${next}`));
  }
  await page.keyboard.press("Enter");
  await choose(page, "Delete");
  await press(button(page, "Delete"));
  await untilFocused(page.getByRole("link", { name: "New conversation" }));
});

suite.test("on a narrow screen the list is used without a mouse", async ({ url }, open) => {
  await using tab = await open(url, { viewport: { width: 360, height: 740 } });
  const { page } = tab;
  await press(button(page, "Conversations"));
  await page.getByText("No conversations yet.").waitFor();
  await tabTo(page.getByRole("link", { name: "New conversation" }));
  await page.keyboard.press("Escape");
  await page.getByText("No conversations yet.").waitFor({ state: "hidden" });
  await untilFocused(button(page, "Conversations"));
});

suite.test("Enter that ends a word of an input method sends nothing", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await button(page, /^Model: (?!Choose)/).waitFor();
  const box = messageBox(page);
  for (const composing of [{ isComposing: true }, { keyCode: 229 }]) { // Chromium's way, Safari's
    await box.fill("にほん");
    await box.dispatchEvent("keydown", { key: "Enter", ...composing });
    assertEquals(await box.inputValue(), "にほん");
  }
  assertEquals(await page.locator(".turn").count(), 0);
});

suite.test("the focus stays where a message was edited or stopped", async ({ url, hub }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const { keyboard } = page;
  const editor = page.locator(".question-editor textarea");
  const transcript = page.getByRole("region", { name: "Conversation" });
  await say(page, "first");
  await answered(page);

  for (let time = 0; time < 2; time++) { // a browser obeys `autofocus` only once
    await button(page, "Edit message").press("Enter");
    await untilFocused(editor);
    await keyboard.press("Escape");
    await untilFocused(button(page, "Edit message"));
  }
  await button(page, "Edit message").press("Enter");
  await editor.fill("second");
  await button(page, "Send").first().press("Enter");
  await page.getByText("2 / 2").waitFor();
  await answered(page);
  await untilFocused(transcript);

  await button(page, "Previous branch").press("Enter");
  await page.getByText("1 / 2").waitFor();
  await untilFocused(button(page, "Next branch")); // there is none before this one
  await keyboard.press("Enter");
  await page.getByText("2 / 2").waitFor();
  await untilFocused(button(page, "Previous branch"));

  await say(page, "hold on");
  await button(page, "Stop").press("Enter");
  await page.getByText("You stopped this answer.").waitFor();
  await untilFocused(transcript);
  hub.release();
});

suite.test("everything works by keyboard: keys, menus, dialogs", async ({ url }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await untilFocused(messageBox(page));
  await page.getByRole("button", { name: "Model: support-v3" }).waitFor();
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("on two lines");
  await page.keyboard.press("Enter");
  await page.getByText(/was asked: by keyboard/).waitFor();
  await page.keyboard.press("Shift+Tab"); // away from the box, into the answer's buttons
  await page.keyboard.press("s");
  await page.getByRole("dialog", { name: "Settings" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await untilFocused(messageBox(page));
  const more = page.getByRole("button", { name: "More", exact: true });
  await more.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  await untilFocused(more);
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Ask the agent" }).waitFor();
});
