import { assertEquals, assertMatch } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(() => startEvalFixture());

/** The field says what is wrong with it, and nothing else of the page does. */
async function saysAt(page: Page, field: Locator, words: RegExp): Promise<void> {
  await becomes(() => field.getAttribute("aria-invalid"), "true");
  const [id] = (await field.getAttribute("aria-describedby"))?.split(" ").slice(-1) ?? [];
  const text = await page.locator(`[id="${id}"]`).innerText();
  assertMatch(text, words);
  assertEquals(await page.getByText(text).count(), 1, `${text} is said twice`);
  assertEquals(await page.locator(".field-error").allInnerTexts(), [text]);
  assertEquals(await page.getByRole("alert").count(), 0);
}

suite.test("a new run says what is wrong with it at the field, once", async (fixture, open) => {
  await fixture.putDataset("errors", [
    { id: "s", interactions: [{ id: "1", user_message: "Hi" }] },
  ]);
  await using tab = await open(`${fixture.url}/ui/new?dataset=errors`);
  tab.expect(/400|502/);
  const { page } = tab;
  const start = page.getByRole("button", { name: "Start the run" });
  await page.getByLabel("Model", { exact: true }).fill("studio/support-v3");
  await page.keyboard.press("Escape");

  const endpoint = page.getByLabel("Endpoint");
  await endpoint.fill("ftp://nowhere");
  await start.click();
  await saysAt(page, endpoint, /http/);
  await endpoint.fill(fixture.endpoint);

  const temperature = page.getByLabel("Temperature");
  await temperature.fill("warm");
  await saysAt(page, temperature, /Enter a number/);
  await temperature.fill("");
  await becomes(() => page.locator(".field-error").count(), 0);
  await start.click();
  await page.waitForURL(/\/ui\/runs\//);
});

suite.test("so does a dataset, and a scenario that is added to one", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/datasets/new`);
  tab.expect(/400/);
  const { page } = tab;
  const name = page.getByLabel("Name", { exact: true });
  const content = page.getByLabel("Content", { exact: true });
  const save = page.getByRole("button", { name: /^Save/ });
  await name.fill("no spaces");
  await content.fill('{"id": "s", "interactions": []}');
  await saysAt(page, content, /interactions/);
  await checkAccessibility(page, { isQuick: true });
  await content.fill(JSON.stringify({ id: "s", interactions: [{ id: "1", user_message: "?" }] }));
  await page.getByText("1 scenario, 1 turn").waitFor();
  await save.click();
  await saysAt(page, name, /must/);

  await page.goto(`${fixture.url}/ui/datasets/add`);
  await name.fill("no spaces");
  await page.getByLabel("Id", { exact: true }).fill("s");
  await save.click();
  await saysAt(page, name, /must/);
});

suite.test("a grade and a tag that are refused say why, once", async (fixture, open) => {
  const run = await fixture.evaluate({ attempts: 1 });
  await using tab = await open(`${fixture.url}/ui/runs/${run}?turn=0/1/0`);
  tab.expect(/400/);
  const { page } = tab;
  const grade = page.getByLabel("Grade from 0 to 1");
  await grade.fill("2");
  await saysAt(page, grade, /from 0 to 1/);

  await page.goto(`${fixture.url}/ui/runs/${run}`);
  await page.getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: "Rename and tag" }).click();
  const tags = page.getByLabel("Tags");
  await tags.fill("a tag with spaces");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await saysAt(page, tags, /letters/);
});
