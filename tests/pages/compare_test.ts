import { assertEquals } from "@std/assert";
import { pageSuite } from "./browser.ts";
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
