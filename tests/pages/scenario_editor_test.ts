import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(() => startEvalFixture());

/** Opens the editor of the second scenario of a dataset. */
async function editOrderStatus(page: Page) {
  await page.locator(".scenarios summary").nth(1).click();
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
  await json.fill(labelled);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("The scenario is saved.").waitFor();
  const saved = await (await fetch(`${fixture.url}/datasets/json`)).text();
  assertEquals(saved.includes('"late"'), true, saved);
});
