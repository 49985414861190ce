import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(() => startEvalFixture());

/** Opens the editor of a scenario. */
async function editOrderStatus(page: Page) {
  await page.locator(".scenarios summary", { hasText: "order-status" }).click();
  await page.getByRole("button", { name: "Edit order-status" }).click();
  return page.getByRole("dialog", { name: "Edit the scenario" });
}

suite.test("JSON that cannot be read is not left out of what is saved", async (fixture, open) => {
  await fixture.putDataset("json", SUPPORT_BATCH.slice(0, 3));
  await using tab = await open(`${fixture.url}/ui/dataset/json`);
  const { page } = tab;
  const dialog = await editOrderStatus(page);
  await dialog.getByText("Labels, checks and tools").click();
  const json = dialog.getByLabel("Scenario as JSON");
  const labelled = (await json.inputValue()).replace('"delivery"', '"late"');
  await json.fill(`${labelled},`);
  await dialog.getByText("Correct the JSON first.").waitFor();
  await checkAccessibility(page, { isQuick: true });
  assertEquals(await dialog.getByRole("button", { name: "Save" }).isEnabled(), false);
  // The JSON would replace what is typed there.
  assertEquals(await dialog.getByLabel("User message").isEnabled(), false);
  await json.fill(labelled);
  assertEquals(await dialog.getByLabel("User message").isEnabled(), true);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("The scenario is saved.").waitFor();
  const saved = await (await fetch(`${fixture.url}/datasets/json`)).text();
  assertEquals(saved.includes('"late"'), true, saved);
});

suite.test(
  "the system prompt of a scenario is shown, and can be changed",
  async (fixture, open) => {
    const [first, second] = SUPPORT_BATCH;
    await fixture.putDataset("told", [first!, { ...second!, system_prompt: "Be brief." }]);
    await using tab = await open(`${fixture.url}/ui/dataset/told`);
    const { page } = tab;
    const dialog = await editOrderStatus(page);
    await page.getByText("System prompt: Be brief.").waitFor();
    const field = dialog.getByLabel("System prompt");
    assertEquals(await field.inputValue(), "Be brief.");
    await field.fill("Be kind.");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The scenario is saved.").waitFor();
    const saved = await (await fetch(`${fixture.url}/datasets/told`)).text();
    assertEquals(saved.includes('"system_prompt":"Be kind."'), true, saved);
  },
);

suite.test("a check of every reply is entered without JSON, and kept beside others", async (
  fixture,
  open,
) => {
  const kept = { type: "json" };
  await fixture.putDataset("checked", [{ ...SUPPORT_BATCH[1]!, checks: [kept] }]);
  await using tab = await open(`${fixture.url}/ui/dataset/checked`);
  const { page } = tab;
  tab.expect(/400/);
  await page.getByRole("button", { name: "Edit order-status" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit the scenario" });
  const value = dialog.getByLabel("Value", { exact: true });
  const save = dialog.getByRole("button", { name: "Save" });
  await dialog.getByRole("button", { name: "Add a check" }).click();
  await dialog.getByLabel("The reply").selectOption("max_words");
  await value.fill("many");
  await save.click();
  await dialog.getByRole("alert").getByText(/checks\.1/).waitFor();
  await value.fill("30");
  await dialog.getByLabel("required").check();
  await checkAccessibility(page, { isQuick: true });
  await save.click();
  await page.getByText("The scenario is saved.").waitFor();
  await page.getByText("max words 30").waitFor();
  const { test_batch } = await (await fetch(`${fixture.url}/datasets/checked`)).json();
  assertEquals(test_batch[0].checks, [kept, { type: "max_words", value: 30, required: true }]);
});

suite.test("Escape does not drop what was changed in a dialog", async (fixture, open) => {
  await fixture.putDataset("escape", SUPPORT_BATCH.slice(0, 3));
  await using tab = await open(`${fixture.url}/ui/dataset/escape`);
  const { page } = tab;
  const dialog = await editOrderStatus(page);
  await page.keyboard.press("Escape"); // nothing was changed
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Edit order-status" }).click();
  const message = dialog.getByLabel("User message");
  const before = await message.inputValue();
  await message.fill("Where is order 4712?");
  await page.keyboard.press("Escape");
  await dialog.getByText("What you changed is not saved.").waitFor();
  for (const label of ["Reference reply", "Description"]) {
    const field = dialog.getByLabel(label).first();
    const text = await field.inputValue();
    await field.fill(`${text} and`);
    await field.fill("");
    await field.fill(text);
  }
  await message.fill(before); // nothing is left to save
  await dialog.getByText("What you changed is not saved.").waitFor({ state: "detached" });
  await message.fill("Where is order 4712?");
  for (let times = 0; times < 3; times++) {
    await page.keyboard.press("Escape");
    await dialog.getByText("What you changed is not saved.").waitFor();
  }
  await checkAccessibility(page, { isQuick: true });
  await dialog.getByRole("button", { name: "Keep editing" }).click();
  await untilFocused(message);
  assertEquals(await message.inputValue(), "Where is order 4712?");
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.getByRole("button", { name: "Discard the changes" }).click();
  await dialog.waitFor({ state: "detached" });
  await untilFocused(page.getByRole("button", { name: "Edit order-status" }));
});

suite.test("going back does not drop what was changed in a dialog", async (fixture, open) => {
  await fixture.putDataset("back", SUPPORT_BATCH.slice(0, 3));
  await using tab = await open(`${fixture.url}/ui/datasets`);
  const { page } = tab;
  await page.getByRole("link", { name: "back", exact: true }).click();
  const dialog = await editOrderStatus(page);
  const message = dialog.getByLabel("User message");
  await message.press("End");
  await message.pressSequentially("!");
  await page.evaluate(() => history.back());
  await dialog.getByText("What you changed is not saved.").waitFor();
  assertEquals(new URL(page.url()).pathname, "/ui/dataset/back");
  await dialog.getByRole("button", { name: "Discard the changes" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.evaluate(() => history.back());
  await page.getByRole("heading", { name: "Datasets" }).waitFor();
});

suite.test(
  "the browser asks before a reload drops what was changed in a dialog",
  async (fixture, open) => {
    await fixture.putDataset("reloaded", SUPPORT_BATCH.slice(0, 3));
    await using tab = await open(`${fixture.url}/ui/dataset/reloaded`);
    const { page } = tab;
    const message = (await editOrderStatus(page)).getByLabel("User message");
    await message.press("End");
    await message.pressSequentially("!");
    const isAsked = () =>
      page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    assertEquals(await isAsked(), true);
    await message.press("Backspace"); // nothing is left to save
    assertEquals(await isAsked(), false);
  },
);

suite.test(
  "the focus stays in the list when the last scenario is deleted",
  async (fixture, open) => {
    await fixture.putDataset("shorter", SUPPORT_BATCH.slice(0, 2));
    await using tab = await open(`${fixture.url}/ui/dataset/shorter`);
    const { page } = tab;
    const dialog = await editOrderStatus(page);
    await dialog.getByRole("button", { name: "Delete the scenario" }).press("Enter");
    await untilFocused(page.locator(".scenarios summary", { hasText: "refund-30-days" }));
  },
);

suite.test(
  "the focus goes to the view when the only scenario that fits a search is deleted",
  async (fixture, open) => {
    await fixture.putDataset("searched", SUPPORT_BATCH.slice(0, 3));
    await using tab = await open(`${fixture.url}/ui/dataset/searched?q=order-status`);
    const { page } = tab;
    await page.getByRole("button", { name: "Edit order-status" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the scenario" });
    await dialog.getByRole("button", { name: "Delete the scenario" }).press("Enter");
    await untilFocused(page.locator("#main"));
  },
);
