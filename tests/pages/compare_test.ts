import { assertEquals } from "@std/assert";
import { becomes, pageSuite } from "./browser.ts";
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
    await page.getByText("intent match, metadata match").waitFor();
    await page.getByRole("button", { name: "overall", pressed: true }).waitFor();
    await page.getByRole("heading", { name: "Scenarios by overall" }).waitFor();
  },
);

suite.test(
  "a laptop shows the verdict of every score without scrolling aside",
  async ({ url, baseline, candidate }, open) => {
    const address = `${url}/ui/compare?baseline=${baseline}&candidate=${candidate}`;
    await using tab = await open(address, { viewport: { width: 1200, height: 800 } });
    const frame = tab.page.locator(".columns.compared .table-frame").first();
    await frame.getByText("Verdict").waitFor();
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
  await page.getByRole("heading", { name: "Scores" }).waitFor();
  const expected = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("p"));
    probe.style.color = "HighlightText";
    probe.style.backgroundColor = "Highlight";
    const { color, backgroundColor } = getComputedStyle(probe);
    probe.remove();
    return [color, backgroundColor];
  });
  assertEquals(await colors("Overview"), expected);
  assertEquals(await colors("Runs"), expected);
});
