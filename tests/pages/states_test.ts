import type { Route } from "playwright-core";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { gradeSome, startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const run = await fixture.evaluate({ attempts: 2 });
  await gradeSome(fixture, run);
  await fixture.putDataset("support");
  return { ...fixture, run };
});

interface Case {
  name: string;
  address: (run: string) => string;
  /** The request that is slow, refused or lost. */
  request: RegExp;
  /** What the page says while it waits. */
  loading: string;
  /** What is there in the end. */
  ready: string;
  /** With axe: one view stands for all, because they show these states with the same components. */
  isChecked?: boolean;
}

const CASES: Case[] = [
  {
    name: "the datasets",
    address: () => "/ui/datasets",
    request: /\/datasets\?/,
    loading: "Loading the datasets…",
    ready: "table.runs tbody tr",
    isChecked: true,
  },
  {
    name: "a dataset",
    address: () => "/ui/dataset/support",
    request: /\/datasets\/support\/versions/,
    loading: "Loading the dataset…",
    ready: ".scenarios summary",
  },
  {
    name: "the scenarios of a dataset",
    address: () => "/ui/dataset/support",
    request: /\/datasets\/support\?/,
    loading: "Loading the scenarios…",
    ready: ".scenarios summary",
  },
  {
    name: "the noise",
    address: (run) => `/ui/runs/${run}?view=noise`,
    request: /\/noise/,
    loading: "Loading the noise…",
    ready: ".shares",
  },
  {
    name: "the plan",
    address: (run) => `/ui/runs/${run}?view=noise`,
    request: /\/power/,
    loading: "Loading the plan…",
    ready: ".sentence",
  },
  {
    name: "the agreement",
    address: (run) => `/ui/runs/${run}?view=grades`,
    request: /\/agreement/,
    loading: "Loading the grades…",
    ready: ".figures",
  },
  {
    name: "the grades of a turn",
    address: (run) => `/ui/runs/${run}?turn=0/1/0`,
    request: /\/turns\/0\/1\/0\/grades/,
    loading: "Loading the grades…",
    ready: ".grade-form",
  },
];

for (const { name, address, request, loading, ready, isChecked } of CASES) {
  suite.test(
    `${name}: waiting, an error and a lost network are shown, and a way to try again`,
    async (fixture, open) => {
      await using tab = await open(fixture.url);
      const { page } = tab;
      tab.expect(/500|ERR_FAILED|ERR_INTERNET_DISCONNECTED/);
      const held = Promise.withResolvers<void>();
      await page.route(request, async (route: Route) => {
        await held.promise;
        await route.fulfill({
          status: 500,
          contentType: "application/problem+json",
          body: JSON.stringify({
            title: "Internal Server Error",
            status: 500,
            detail: "the database is on fire",
            code: "internal_error",
            request_id: "r-1",
          }),
        });
      });
      await page.goto(`${fixture.url}${address(fixture.run)}`);
      await page.getByText(loading).first().waitFor();
      if (isChecked) await checkAccessibility(page);
      held.resolve();
      await page.getByText("The database is on fire.").waitFor();
      await page.getByText("r-1", { exact: true }).waitFor();
      if (isChecked) await checkAccessibility(page);
      await page.unroute(request);
      await page.route(request, (route: Route) => route.abort("internetdisconnected"));
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("Cannot reach the service.").waitFor();
      await page.unroute(request);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator(ready).first().waitFor();
      await page.getByText("Cannot reach the service.").waitFor({ state: "detached" });
    },
  );
}
