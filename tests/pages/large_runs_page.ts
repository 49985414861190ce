import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { answerOf, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  return { ...fixture, run: await fixture.evaluate({ attempts: 2 }) };
});

/** Shows a run as if its summary had other figures: those of a run that would take too long. */
async function showWith(
  page: Page,
  address: string,
  // deno-lint-ignore no-explicit-any -- a summary as it comes
  change: (summary: any) => void,
): Promise<void> {
  await page.route(/\/summary$/, async (route) => {
    const summary = JSON.parse((await answerOf(route)).body);
    change(summary);
    await route.fulfill({ json: summary });
  });
  await page.goto(address);
  await page.getByRole("heading", { name: "Distribution of overall" }).waitFor();
}

suite.test("the axis of a histogram has room for large counts", async ({ url, run }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  await showWith(page, `${url}/ui/runs/${run}?view=scores`, ({ histograms }) => {
    histograms.overall = histograms.overall.map((_: number, band: number) => band * 125_000);
  });
  const chart = page.getByRole("group", { name: "Distribution of overall" });
  await chart.getByText("1,000,000", { exact: true }).waitFor();
  const outside = await chart.evaluate((svg) => {
    const { left, right } = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => {
      const box = text.getBoundingClientRect();
      return box.left < left || box.right > right;
    }).map(({ textContent }) => textContent);
  });
  assertEquals(outside, []);
});

suite.test("labels beyond those of the table are counted", async ({ url, run }, open) => {
  await using tab = await open(url);
  const { page } = tab;
  const expected = Array.from({ length: 40 }, (_, index) => `label-${index}`);
  await showWith(page, `${url}/ui/runs/${run}?view=scores`, ({ labels }) => {
    labels.intent.confusion = Object.fromEntries(
      expected.map((label) => [label, { [label]: 3, "(none)": 1, "label-39": 1 }]),
    );
  });
  const table = page.getByRole("region", { name: "Labels of intent" });
  await page.getByText("These are the first 30 of 40 labels.").waitFor();
  assertEquals(await table.getByRole("columnheader").last().innerText(), "2 others");
  assertEquals(
    await table.getByRole("row").nth(1).getByRole("cell").last().innerText(),
    "2",
  );
});
