import type { Page } from "playwright-core";
import { pageSuite } from "./browser.ts";
import { gradeSome, openFigures, startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const old = await fixture.evaluate({ model_id: "studio/support-v2" });
  const now = await fixture.evaluate();
  const group = await fixture.evaluateGroup(["1", "2", "3"].map((version) => `studio/v${version}`));
  await gradeSome(fixture, now);
  await fixture.putDataset("support");
  return { ...fixture, old, now, group };
});

/** Each view with words that it must explain, and the start of what they mean. */
const VIEWS: {
  address: (ids: Record<"old" | "now" | "group", string>) => string;
  words: [string, string][];
}[] = [
  {
    address: ({ now }) => `/ui/runs/${now}`,
    words: [["Mean", "The mean of"], ["95% interval", "If the test"], ["p", "The chance"]],
  },
  {
    address: ({ now }) => `/ui/runs/${now}?view=scores`,
    words: [["pass^k", "All k attempts"], ["at least once", "pass@k"]],
  },
  {
    address: ({ now }) => `/ui/runs/${now}?view=grades`,
    words: [["alpha", "Krippendorff"], ["Kappa", "Cohen"]],
  },
  {
    address: ({ old, now }) => `/ui/compare?baseline=${old}&candidate=${now}`,
    words: [["p", "The chance"], ["95% interval", "If the test"]],
  },
  {
    address: ({ group }) => `/ui/compare?group=${group}`,
    words: [["corrected for all pairs", "With many comparisons"], ["p", "The chance"]],
  },
  {
    address: () => "/ui/datasets",
    words: [["Latest version", "Its code is the start of the hash"]],
  },
];

const termOf = (page: Page, word: string) =>
  page.locator("main").getByRole("button", { name: word, exact: true }).and(page.locator(".term"))
    .first();

suite.test(
  "terms say what they mean under the pointer and with the focus",
  async (fixture, open) => {
    await using tab = await open(`${fixture.url}/ui/no/such/view`);
    const { page } = tab;
    for (const { address, words } of VIEWS) {
      await page.goto(fixture.url + address(fixture));
      if (address(fixture).includes("group=")) await openFigures(page);
      if (address(fixture).includes("compare")) await page.getByText("Why?").click();
      for (const [word, means] of words) {
        const term = termOf(page, word);
        await term.hover();
        await page.locator(".tip").getByText(means).waitFor();
        await page.mouse.move(0, 0);
        await page.locator(".tip").waitFor({ state: "detached" });
        await term.focus();
        await page.locator(".tip").getByText(means).waitFor();
        await page.keyboard.press("Escape");
        await page.locator(".tip").waitFor({ state: "detached" });
      }
    }
  },
);

suite.test("a term that is touched says what it means", async (fixture, open) => {
  const address = `${fixture.url}/ui/runs/${fixture.now}?view=grades`;
  await using tab = await open(address, { hasTouch: true, viewport: { width: 390, height: 800 } });
  const { page } = tab;
  await termOf(page, "Kappa").tap();
  await page.locator(".tip").getByText("Cohen").waitFor();
});
