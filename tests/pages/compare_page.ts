import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { answerOf, becomes, checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const baseline = await fixture.evaluate({ attempts: 1, model_id: "studio/support-v2" });
  const candidate = await fixture.evaluate({ attempts: 1 });
  const withoutLabels = await fixture.evaluate({
    attempts: 1,
    test_batch: SUPPORT_BATCH.map(({ interactions, ...scenario }) => ({
      ...scenario,
      interactions: interactions.map(({ reference_metadata: _, ...turn }) => turn),
    })),
  });
  return { ...fixture, baseline, candidate, withoutLabels };
});

suite.test(
  "a run that lacks the chosen score is still compared by the scores that it has",
  async ({ url, baseline, candidate, withoutLabels }, open) => {
    await using tab = await open(
      `${url}/ui/compare?baseline=${baseline}&candidate=${candidate}`,
    );
    const { page } = tab;
    await page.getByRole("button", { name: "intent match" }).click();
    await page.getByRole("heading", { name: "Scenarios by intent match" }).waitFor();
    await page.getByLabel("Candidate", { exact: true }).selectOption(withoutLabels);
    await page.locator("li", { hasText: /^Only in the baseline: scores intent match/ }).waitFor();
    await page.getByRole("button", { name: "overall", pressed: true }).waitFor();
    await page.getByRole("heading", { name: "Scenarios by overall" }).waitFor();
  },
);

suite.test(
  "a laptop shows the interval of every score without scrolling aside",
  async ({ url, baseline, candidate }, open) => {
    const address = `${url}/ui/compare?baseline=${baseline}&candidate=${candidate}`;
    await using tab = await open(address, { viewport: { width: 1200, height: 800 } });
    const frame = tab.page.locator(".columns.compared .table-frame").first();
    await frame.getByRole("columnheader", { name: "95% interval" }).waitFor();
    assertEquals(await frame.evaluate((box) => box.scrollWidth - box.clientWidth), 0);
  },
);

suite.test("a run that is compared with itself is named in both choices", async (
  { url, baseline },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?baseline=${baseline}&candidate=${baseline}`);
  const { page } = tab;
  await page.getByText("No scenario differs.").waitFor();
  for (const name of ["Baseline", "Candidate"]) {
    const choice = page.getByLabel(name, { exact: true });
    await choice.getByRole("option", { name: "support · studio/support-v2" }).waitFor({
      state: "attached",
    });
    await becomes(() => choice.inputValue(), baseline);
  }
});

suite.test("a run that is too old for the list is named in its choice, once", async (
  { url, baseline },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.route(/\/runs\?limit=200/, (route) => route.fulfill({ json: { runs: [] } }));
  await page.goto(`${url}/ui/compare?baseline=${baseline}&candidate=${baseline}`);
  const options = page.getByLabel("Baseline", { exact: true }).locator("option");
  await options.filter({ hasText: "support · studio/support-v2" }).first().waitFor({
    state: "attached",
  });
  assertEquals(await options.count(), 2);
});

suite.test("the choices of a comparison are there if an older run cannot be found", async (
  { url, baseline },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  tab.expect(/404/);
  await page.route(/\/runs\?text=/, (route) => route.fulfill({ body: "{" }));
  await page.goto(`${url}/ui/compare?baseline=${baseline}x`);
  const choice = page.getByLabel("Candidate", { exact: true });
  await choice.locator(`option[value="${baseline}"]`).waitFor({ state: "attached" });
});

suite.test("a call that failed is no empty reply in a turn that changed", async (
  { url, baseline, candidate },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.route(new RegExp(`/runs/${candidate}/turns\\?`), async (route) => {
    const { turns, ...rest } = JSON.parse((await answerOf(route)).body);
    const failed = turns.map((turn: object) => ({ ...turn, error: "endpoint_timeout" }));
    await route.fulfill({ json: { ...rest, turns: failed } });
  });
  await page.goto(`${url}/ui/compare?baseline=${baseline}&candidate=${candidate}`);
  await page.getByText("Candidate, attempt 1, failed: endpoint timeout").first().waitFor();
  await page.getByText("Baseline, attempt 1", { exact: true }).first().waitFor();
});

suite.test("the part of a run that is shown can be read in forced colours", async (
  { url, baseline },
  open,
) => {
  await using tab = await open(`${url}/ui/runs/${baseline}`, { forcedColors: "active" });
  const { page } = tab;
  const colors = (name: string) =>
    page.locator("a[aria-current=page]", { hasText: name }).evaluate((link) => {
      const { color, backgroundColor } = getComputedStyle(link);
      return [color, backgroundColor];
    });
  await page.getByRole("navigation", { name: "Views of the run" }).waitFor();
  const expected = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("p"));
    probe.style.color = "HighlightText";
    probe.style.backgroundColor = "Highlight";
    const { color, backgroundColor } = getComputedStyle(probe);
    probe.remove();
    return [color, backgroundColor];
  });
  assertEquals(await colors("Replies"), expected);
  assertEquals(await colors("Runs"), expected);
});

suite.test("a legend has its colours in forced colours, too", async (fixture, open) => {
  await using tab = await open(
    `${fixture.url}/ui/compare?baseline=${fixture.baseline}&candidate=${fixture.candidate}`,
    { forcedColors: "active" },
  );
  const keys = tab.page.locator(".legend .key");
  await keys.first().waitFor();
  const colors = await keys.evaluateAll((keys) =>
    keys.map((key) => getComputedStyle(key).backgroundColor)
  );
  assertEquals(new Set(colors).size, 3, colors.join());
});

suite.test("a comparison says its verdict first, and shows what changed", async (fixture, open) => {
  await using tab = await open(
    `${fixture.url}/ui/compare?baseline=${fixture.baseline}&candidate=${fixture.candidate}`,
  );
  const { page } = tab;
  await page.locator(".verdict .sentence").waitFor();
  assertStringIncludes((await page.locator(".verdict .sentence").textContent())!, "candidate");
  await page.locator(".scatter .dot").first().waitFor();
  await becomes(() => page.locator(".scatter .dot").count(), SUPPORT_BATCH.length);
  await page.locator(".scatter .dot[tabindex='0']").focus();
  const first = await page.locator(".tip").textContent();
  await page.keyboard.press("ArrowRight");
  await becomes(async () => await page.locator(".tip").textContent() !== first, true);
  assertMatch((await page.locator(".tip").textContent())!, /: [01]\.\d\d → [01]\.\d\d \(/);
  await becomes(() => page.getByRole("group", { name: "Candidate, attempt 1" }).count(), 5);
  await page.getByRole("button", { name: "overall" }).click();
  await page.getByRole("heading", { name: "Scenarios by overall" }).waitFor();
  await checkAccessibility(page);
});

/** The score of `#2 0.94`. */
function scoreOf(button: string): number {
  return Number(button.split(/\s+/)[1]);
}

/** The attempts that show the change best are chosen. */
async function checkChosen(page: Page): Promise<void> {
  const changed = page.locator(".changes details").first();
  const isBetter = (await changed.locator(".badge").innerText()).startsWith("+");
  for (const run of ["baseline", "candidate"]) {
    const attempts = changed.getByRole("group", { name: `Attempts of the ${run}` });
    await attempts.waitFor();
    const scores = (await attempts.getByRole("button").allInnerTexts()).map(scoreOf);
    assertEquals(scores.length, 3);
    const isHighest = isBetter === (run === "candidate");
    const chosen = scoreOf(await attempts.locator("[aria-pressed=true]").innerText());
    assertEquals(chosen, isHighest ? Math.max(...scores) : Math.min(...scores));
  }
}

suite.test("a turn that changed shows the attempts that did, and any other", async (
  fixture,
  open,
) => {
  const [baseline, candidate] = await Promise.all(
    ["studio/support-v2", "studio/support-v3"].map((model_id) =>
      fixture.evaluate({ model_id, attempts: 3, judge_votes: 1 })
    ),
  );
  await using tab = await open(
    `${fixture.url}/ui/compare?baseline=${baseline}&candidate=${candidate}`,
  );
  const { page } = tab;
  const changed = page.locator(".changes details").first();
  await checkChosen(page);
  for (const attempt of [2, 3]) {
    await changed.getByRole("group", { name: "Attempts of the candidate" })
      .getByRole("button", { name: `#${attempt}` }).click();
    await changed.getByText(`Candidate, attempt ${attempt}`).waitFor();
  }
  await checkAccessibility(page, { isQuick: true });
  const path = `${await Deno.makeTempDir()}/report.html`;
  const query = `format=html&baseline=${baseline}`;
  const report = await fetch(`${fixture.url}/runs/${candidate}/export?${query}`);
  await Deno.writeTextFile(path, await report.text());
  await page.goto(`file://${path}`);
  await checkChosen(page);
  await page.getByRole("link", { name: "Side by side" }).click();
  const rows = page.locator(".reply-grid tbody tr");
  await rows.first().waitFor();
  await page.getByPlaceholder("Search").fill("4711");
  await becomes(() => rows.count(), 2);
  await page.getByRole("link", { name: "The verdict" }).click();
  await checkChosen(page);
});

suite.test("runs of different test sets are compared on what they share", async (fixture, open) => {
  const smoke = await fixture.evaluate({
    test_name: "smoke",
    attempts: 1,
    test_batch: [...SUPPORT_BATCH.slice(0, 2), { ...SUPPORT_BATCH[2]!, id: "only-here" }],
  });
  await using tab = await open(`${fixture.url}/ui/compare`);
  const { page } = tab;
  await page.getByRole("heading", { name: "Choose two runs" }).waitFor();
  await checkAccessibility(page);
  await page.locator(`option[value="${smoke}"]`).first().waitFor({ state: "attached" });
  await page.getByLabel("Baseline").selectOption(smoke);
  await page.getByLabel("Candidate").selectOption(fixture.candidate);
  await page.getByText(/The test sets differ: the runs are compared on the 2 scenarios/).waitFor();
  await page.getByText("only-here").waitFor();
});

suite.test("a verdict on scenarios that are not the same is followed by a warning", async (
  { url, baseline, withoutLabels },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?baseline=${baseline}&candidate=${withoutLabels}`);
  const { page } = tab;
  const warning = page.locator(".verdict .sentence + .notice.warn");
  await warning.getByText("10 scenarios changed between the runs").click();
  await warning.getByText(SUPPORT_BATCH.map(({ id }) => id).join(", ")).waitFor();
  await checkAccessibility(page, { isQuick: true });
  await page.goto(`${url}/ui/runs/${withoutLabels}`);
  await page.getByText(/the last run of this test: .* 10 scenarios changed between the runs/)
    .waitFor();
});

suite.test("a comparison says why its overall is not that of the runs' own pages", async (
  { url, baseline, withoutLabels },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?baseline=${baseline}&candidate=${withoutLabels}`);
  await tab.page.locator(".verdict").getByText(
    "Overall is computed without metadata_match where that cannot be compared; its means " +
      "differ from those of the runs.",
  ).waitFor();
});

suite.test("a comparison says so if the histories of its runs differ", async (
  { url, baseline, ...fixture },
  open,
) => {
  const other = await fixture.evaluate({ attempts: 1, history: "reference" });
  await using tab = await open(`${url}/ui/compare?baseline=${baseline}&candidate=${other}`);
  const note = "the difference of later turns is also what errors in earlier replies cost";
  await tab.page.locator(".verdict").getByText(note).waitFor();
});

suite.test("the judge is asked which replies are better, and what it does not tell is said", async (
  { url, baseline, candidate },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?baseline=${baseline}&candidate=${candidate}`);
  const { page } = tab;
  await page.getByRole("button", { name: "Ask the judge" }).click();
  // This judge only knows how to grade: its answers cannot be read as a preference.
  const found = page.getByText(/The candidate is preferred in 0 turns.* [1-9]\d* not judged/);
  await found.waitFor();
  assertStringIncludes(await found.innerText(), "inconclusive");
});
