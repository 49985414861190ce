import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { answerOf, becomes, checkAccessibility, pageSuite, untilFocused } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture({ delayMs: 50, environment: { EVAL_CONCURRENCY: "2" } });
  const run = await fixture.evaluate({ attempts: 1 });
  return { ...fixture, run };
});

suite.test(
  "what is sorted by keyboard keeps the focus on what sorts it",
  async ({ url, run }, open) => {
    await using tab = await open(url);
    const { page } = tab;
    const header = page.getByRole("button", { name: "Score", exact: true });
    await header.focus();
    await page.keyboard.press("Enter");
    await page.locator("[aria-sort]", { hasText: "Score" }).waitFor();
    await page.waitForLoadState("networkidle");
    await untilFocused(header);
    await page.goto(`${url}/ui/runs/${run}`);
    const order = page.getByRole("combobox", { name: "Order" });
    await order.focus();
    await page.keyboard.press("ArrowDown");
    await page.waitForURL(/sort=/);
    await page.waitForLoadState("networkidle");
    await untilFocused(order);
  },
);

suite.test(
  "the turns of a live run stay where the reader is while new ones arrive",
  async (fixture, open) => {
    const id = await fixture.start({
      attempts: 60,
      judge_votes: 1,
      test_name: "read while it runs",
    });
    await using tab = await open(`${fixture.url}/ui/runs/${id}`);
    const { page } = tab;
    const table = page.getByRole("table", { name: "Replies" });
    await page.waitForFunction(() =>
      Number(document.querySelector(".turns")?.getAttribute("aria-rowcount")) > 30
    );
    await page.evaluate(() => scrollTo(0, 900));
    const read = page.locator(".turn-rows .turn-row").nth(10);
    const [text, place] = [await read.innerText(), await read.boundingBox()];
    const done = () => page.evaluate(() => document.querySelector("progress")!.value);
    const before = await done();
    await page.waitForFunction(
      (before) => document.querySelector("progress")!.value > before + 20,
      before,
    );
    assertEquals([await read.innerText(), await read.boundingBox()], [text, place]);
    assertEquals(await table.count(), 1);
    await fetch(`${fixture.url}/runs/${id}/cancel`, { method: "POST" });
  },
);

suite.test("both ends of a range of scores count", async ({ url, run }, open) => {
  await using tab = await open("about:blank");
  const { page } = tab;
  await page.clock.install();
  await page.goto(`${url}/ui/runs/${run}`);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByLabel("Lowest score").waitFor();
  await page.clock.pauseAt(Date.now() + 3_600_000);
  await page.getByLabel("Lowest score").fill("0.2");
  await page.getByLabel("Highest score").fill("0.9");
  await page.clock.runFor(1_000);
  assertEquals(new URL(page.url()).search, "?min=0.2&max=0.9");
});

suite.test(
  "a score may have a comma, and what is none is marked and filters nothing",
  async ({ url, run }, open) => {
    await using tab = await open(`${url}/ui/runs/${run}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    const lowest = page.getByLabel("Lowest score");
    const search = () => Promise.resolve(new URL(page.url()).search);
    await lowest.pressSequentially("0,4");
    await becomes(search, "?min=0.4");
    assertEquals(await lowest.inputValue(), "0.4");
    await lowest.fill("4");
    await becomes(search, "");
    assertEquals(await lowest.getAttribute("aria-invalid"), "true");
  },
);

suite.test("a search does not follow into the run that is opened", async ({ url }, open) => {
  await using tab = await open("about:blank");
  const { page } = tab;
  await page.clock.install();
  await page.goto(url);
  await page.getByRole("link", { name: "support", exact: true }).first().waitFor();
  await page.clock.pauseAt(Date.now() + 3_600_000);
  await page.getByLabel("Search by name, model, tag or id, and in conversations").fill("support");
  await page.getByRole("link", { name: "support", exact: true }).first().click();
  await page.clock.runFor(1_000);
  assertEquals(new URL(page.url()).search, "");
});

suite.test("a search that fails offers no more of the runs before it", async ({ url }, open) => {
  await using tab = await open("about:blank");
  const { page } = tab;
  tab.expect(/ERR_FAILED/);
  await page.route(/\/runs\?/, async (route) => {
    if (route.request().url().includes("text=")) return await route.abort();
    const { runs: [run] } = JSON.parse((await answerOf(route)).body);
    const runs = Array.from({ length: 50 }, (_, index) => ({ ...run, run_id: String(index) }));
    await route.fulfill({ json: { runs, next_cursor: "more" } });
  });
  await page.goto(url);
  const more = page.getByRole("button", { name: "Show more" });
  await more.waitFor();
  await page.getByLabel("Search by name, model, tag or id, and in conversations").fill("smoke");
  await page.getByText("Cannot reach the service").waitFor();
  assertEquals(await more.count(), 0);
});

suite.test("one turn is not called turns", async (fixture, open) => {
  const id = await fixture.evaluate({ attempts: 1, test_batch: SUPPORT_BATCH[1] });
  await using tab = await open(`${fixture.url}/ui/runs/${id}`);
  const { page } = tab;
  await page.getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByText("with 1 turn will be gone").waitFor();
});

suite.test("turns that cannot be read are not said to be searched", async (fixture, open) => {
  const run = await fixture.evaluate({ attempts: 1 });
  await using tab = await open(`${fixture.url}/ui/no/such/view`);
  tab.expect(/404/);
  const { page } = tab;
  await page.route(/\/turns\?/, (route) => route.fulfill({ status: 404, json: {} }));
  await page.goto(`${fixture.url}/ui/runs/${run}`);
  const turns = page.getByRole("region", { name: "Replies", exact: true });
  await turns.getByRole("alert").waitFor();
  assertEquals(await turns.getByText("Searching…").count(), 0);
});

suite.test("the focus does not get lost with the row that is deleted", async (fixture, open) => {
  for (let index = 0; index < 3; index++) {
    await fixture.evaluate({
      test_batch: SUPPORT_BATCH.slice(0, 1),
      attempts: 1,
      test_name: `gone-${index}`,
    });
  }
  await using tab = await open(`${fixture.url}/?q=gone`);
  const { page } = tab;
  const actions = (name: string) => page.getByRole("button", { name: `Actions for ${name},` });
  await actions("gone-1").focus();
  for (
    const [gone, next] of [["gone-1", "gone-0"], ["gone-0", "gone-2"], ["gone-2", ""]] as const
  ) {
    await untilFocused(actions(gone));
    await page.keyboard.press("Enter");
    await page.keyboard.press("End"); // Delete is the last
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
    await actions(gone).waitFor({ state: "detached" });
    await untilFocused(next ? actions(next) : page.locator("#main"));
  }
});

suite.test("the expected labels stay in sight while the table scrolls", async (
  { url, run },
  open,
) => {
  await using tab = await open(`${url}/ui/runs/${run}?view=scores`, {
    viewport: { width: 360, height: 800 },
  });
  const { page } = tab;
  const frame = page.getByRole("region", { name: "Labels of intent" });
  const name = frame.getByRole("rowheader", { name: "refund" });
  await name.waitFor();
  const before = await name.boundingBox();
  assertEquals(
    await frame.evaluate((frame) => (frame.scrollLeft = 9_999, frame.scrollLeft > 0)),
    true,
  );
  assertEquals((await name.boundingBox())!.x, before!.x);
});

suite.test("a run without a score says why, and one row is not the first", async (
  fixture,
  open,
) => {
  const scenario = { id: "one", interactions: [{ id: "1", user_message: "Hello!" }] };
  await fixture.evaluate({ test_batch: scenario, attempts: 1, test_name: "unscored" });
  await using tab = await open(`${fixture.url}/?q=unscored`);
  const { page } = tab;
  const row = page.getByRole("row", { name: /unscored/ });
  await row.getByText(/^\d \/ \d$/).waitFor(); // everything is counted
  assertEquals(await row.locator("td.score").innerText(), "none: nothing was expected");
});

/** Does what changes the list, then waits until rows follow each other without a gap. */
async function hasNoGapsAfter(page: Page, change: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForResponse(/\/turns\?.*fields=/), change()]);
  await page.evaluate(() =>
    // drawn
    new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))
  );
  await becomes(() =>
    page.locator(".turn-rows .turn-row").evaluateAll((rows) => {
      const boxes = rows.map((row) => row.getBoundingClientRect());
      return boxes.slice(1).map(({ top }, index) => Math.round(top - boxes[index]!.bottom))
        .filter((gap) => gap !== 0);
    }), []);
}

suite.test("rows are as high as their texts after a filter, and when a live run ends", async (
  { url, evaluate, start },
  open,
) => {
  const id = await evaluate({ attempts: 3 });
  await using tab = await open(`${url}/ui/runs/${id}`);
  const { page } = tab;
  for (const chip of [/^Passed/, /^All/, /^Not passed/, /^Not graded/, /^Passed/]) {
    const button = page.getByRole("button", { name: chip }).first();
    await hasNoGapsAfter(page, () => button.click());
  }
  for (const order of ["-overall", "-latency_ms", "position"]) {
    await hasNoGapsAfter(page, () => page.getByLabel("Order").selectOption(order));
  }
  const live = await start({ attempts: 20, judge_votes: 1 });
  await page.goto(`${url}/ui/runs/${live}`);
  await hasNoGapsAfter(page, () => page.getByRole("region", { name: "Result" }).waitFor());
});

suite.test("a group is one row that opens, and whose models have no trend yet", async (
  { url, evaluateGroup },
  open,
) => {
  await evaluateGroup(["studio/support-v2", "studio/support-v3"]);
  await using tab = await open(url);
  const { page } = tab;
  const rows = page.locator("table.runs tbody tr");
  const toggle = page.getByRole("button", { name: "2 models" });
  await toggle.waitFor();
  const before = await rows.count();
  await checkAccessibility(page, { isQuick: true });
  await toggle.click();
  await becomes(() => rows.count(), before + 2);
  assertEquals(
    (await rows.locator(".model").allInnerTexts()).slice(1, 3).toSorted(),
    ["studio/support-v2", "studio/support-v3"],
  );
  await rows.nth(0).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Delete 2 runs" }).waitFor();
  await rows.nth(1).getByRole("checkbox").uncheck();
  await page.getByRole("button", { name: "Delete 1 run" }).waitFor();
  await toggle.click();
  await rows.nth(0).getByRole("link", { name: "support" }).click();
  await page.waitForURL(/\/ui\/compare\?group=/);

  const name = "a new test";
  await evaluateGroup(["one", "two"], name);
  await page.goto(`${url}/?test=${name}`);
  await page.getByText("A trend needs runs of this test at two times").waitFor();
});

suite.test("that all calls failed is what one sees first, and a question names a scenario", async (
  { url, evaluate },
  open,
) => {
  const test_batch = [{ id: "1", interactions: [{ id: "1", user_message: "Do you ship?" }] }];
  const endpoint = "http://127.0.0.1:9"; // nothing listens there
  const id = await evaluate({ test_batch, endpoint, test_name: "dead", attempts: 2 });
  await using tab = await open(`${url}/?q=dead`);
  const { page } = tab;
  await page.getByRole("row", { name: /dead/ }).locator(".badge.bad", {
    hasText: "all calls failed",
  }).waitFor();
  await page.getByRole("link", { name: "dead" }).click();
  await page.locator(".sentence", { hasText: "All calls failed" }).waitFor();
  await page.goto(`${url}/ui/runs/${id}?view=scenarios`);
  await page.getByRole("cell", { name: "Do you ship?" }).waitFor();
});

suite.test("several runs are deleted at once", async (fixture, open) => {
  for (let index = 0; index < 2; index++) {
    await fixture.evaluate({
      test_batch: SUPPORT_BATCH.slice(0, 1),
      attempts: 1,
      test_name: `several-${index}`,
    });
  }
  await using tab = await open(`${fixture.url}/?q=several-`);
  const { page } = tab;
  await page.getByRole("checkbox").nth(1).waitFor();
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("button", { name: "Delete 2 runs" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No run fits" }).waitFor();
});
