import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { findBrokenWords, pageSuite } from "./browser.ts";
import { gradeSome, startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const old = await fixture.evaluate({ model_id: "studio/support-v2", attempts: 2 });
  const run = await fixture.evaluate({ attempts: 2 });
  await gradeSome(fixture, run);
  const group = await fixture.evaluateGroup(["studio/support-v1", "studio/support-v2"]);
  await fixture.putDataset("support", SUPPORT_BATCH.slice(0, 8));
  await fixture.putDataset("support");
  await fixture.putDataset("refunds.2026", SUPPORT_BATCH.slice(0, 1));
  return { ...fixture, old, run, group };
});

/** Tables wider than their frame. One of labels has as many columns as there are labels. */
function cutTables(page: Page): Promise<string[]> {
  return page.locator(".table-frame:not(:has(.confusion))").evaluateAll((frames) =>
    frames.flatMap((frame) =>
      frame.scrollWidth > frame.clientWidth
        ? [`${frame.getAttribute("aria-label")}: ${frame.scrollWidth} of ${frame.clientWidth} px`]
        : []
    )
  );
}

suite.test("a telephone cuts no table and breaks no name in it", async (fixture, open) => {
  const { url, old, run, group } = fixture;
  await using tab = await open("about:blank");
  const { page } = tab;
  for (
    const [address, ready, act] of [
      ["/", "table.runs tbody tr"],
      ["/ui/datasets", "table.runs tbody tr"],
      ["/ui/dataset/support", "[aria-label=Versions] tbody tr"],
      [`/ui/compare?baseline=${old}&candidate=${run}`, "[aria-label=Scores] tbody tr"],
      [`/ui/runs/${run}?view=grades`, "[aria-label='People'] tbody tr"],
      [`/ui/runs/${run}?view=scores`, "[aria-label=Scores] tbody tr"],
      [`/ui/compare?group=${group}`, ".reply-grid tbody tr", "Intervals and all scores"],
    ] as const
  ) {
    await page.goto(`${url}${address}`);
    await page.locator(ready).first().waitFor();
    if (act) await page.getByText(act).click();
    for (const width of [390, 360]) {
      await page.setViewportSize({ width, height: 800 });
      assertEquals(await cutTables(page), [], `${address} at ${width} px`);
    }
    assertEquals(await findBrokenWords(page.locator(".table-frame a.name")), [], address);
  }
});

suite.test("a tap on a chart shows the value; a second one on a trend opens the run", async (
  { url, old, run },
  open,
) => {
  const viewport = { width: 390, height: 800 };
  await using tab = await open("about:blank", { hasTouch: true, viewport });
  const { page } = tab;
  for (
    const [address, mark, text] of [
      [`/ui/runs/${run}?view=scores`, ".chart .bar", /^0\.\d\d to \d\.\d\d: \d+ turns?$/],
      [`/ui/runs/${run}?view=scores`, ".curves [role=img]", /^every time in 2: \d\.\d\d/],
      [`/ui/compare?baseline=${old}&candidate=${run}`, ".scatter .dot", /: \d\.\d\d → \d\.\d\d/],
      ["/?test=support", ".chart a", /^studio\/support-v\d, .*: \d\.\d\d/],
    ] as const
  ) {
    await page.goto(`${url}${address}`);
    await page.locator(mark).last().tap();
    await page.locator(".tip", { hasText: text }).waitFor();
  }
  await page.locator(".chart a").last().tap();
  await page.waitForURL(/\/ui\/runs\//);
});
