import { assertEquals } from "@std/assert";
import { becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const run = await fixture.evaluate({ attempts: 1, test_name: "shop" });
  const other = await fixture.evaluate({
    attempts: 1,
    test_name: "smoke",
    test_batch: SUPPORT_BATCH.slice(1, 3),
  });
  return { ...fixture, run, other };
});

suite.test("a text is found in the conversations of all runs", async (fixture, open) => {
  await using tab = await open(fixture.url);
  const { page } = tab;
  await page.getByRole("searchbox").fill("Norway");
  await page.getByRole("heading", { name: "No run fits" }).waitFor();
  const found = page.locator(".found-turn");
  await found.first().waitFor();
  assertEquals(await found.count(), 1, "only one run asks for it");
  assertEquals(await found.locator("mark").textContent(), "Norway");
  await checkAccessibility(page);
  await found.getByRole("link").click();
  await page.waitForURL((url) => url.pathname === `/ui/runs/${fixture.run}`);
  await page.getByRole("heading", { name: /two-questions/ }).waitFor();
});

suite.test("a run is renamed and tagged, and found by its tag", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/ui/runs/${fixture.other}`);
  const { page } = tab;
  tab.expect(/400/);
  await page.getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: "Rename and tag" }).click();
  await page.getByLabel("Test name").fill("smoke, renamed");
  await page.getByLabel("Tags").fill("release/3, two words");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("must have 1 to 100 letters, digits, or . _ / -").waitFor();
  await checkAccessibility(page, { isQuick: true });
  await page.getByLabel("Tags").fill("release/3");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "smoke, renamed" }).waitFor();
  await page.goto(`${fixture.url}/?q=release`);
  const row = page.locator("table.runs tbody tr");
  await row.first().waitFor();
  assertEquals(await row.count(), 1);
  await row.getByText("release/3").waitFor();
  await row.getByText("smoke, renamed").waitFor();
});

suite.test("filters are kept as links, for runs and for turns", async (fixture, open) => {
  await using tab = await open(`${fixture.url}/?q=shop`);
  const { page } = tab;
  await page.getByRole("button", { name: "Save this filter" }).click();
  await page.goto(fixture.url);
  const saved = page.getByRole("navigation", { name: "Saved filters" });
  await saved.getByRole("link", { name: "“shop”" }).click();
  await page.waitForURL(/\?q=shop$/);
  await becomes(() => page.locator("table.runs tbody .name").allTextContents(), ["shop"]);
  await checkAccessibility(page);
  await saved.getByRole("button", { name: "Forget the filter “shop”" }).click();
  await saved.getByRole("link").waitFor({ state: "detached" });

  await page.goto(`${fixture.url}/ui/runs/${fixture.run}?outcome=passed&q=order`);
  await page.getByRole("button", { name: "Save this filter" }).click();
  await page.goto(`${fixture.url}/ui/runs/${fixture.other}`);
  await saved.getByRole("link", { name: "“order”, passed" }).click();
  await page.waitForURL(`${fixture.url}/ui/runs/${fixture.other}?outcome=passed&q=order`);
  await page.getByText("Clear filters").waitFor();
});
