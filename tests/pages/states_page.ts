import type { Route } from "playwright-core";
import { checkAccessibility, pageSuite } from "./browser.ts";
import { gradeSome, startEvalFixture } from "./eval_fixture.ts";

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  const older = await fixture.evaluate({ attempts: 1, model_id: "studio/support-v2" });
  const run = await fixture.evaluate({ attempts: 2 });
  const group = await fixture.evaluateGroup(["studio/support-v2", "studio/support-v3"]);
  await gradeSome(fixture, run);
  await fixture.putDataset("support");
  return { ...fixture, older, run, group };
});

interface Ids {
  older: string;
  run: string;
  group: string;
}

interface Case {
  name: string;
  address: (ids: Ids) => string;
  /** The request that is slow, refused or lost. */
  request: RegExp;
  /** What the page says while it waits; a list of suggestions says nothing. */
  loading?: string;
  /** What is there in the end. */
  ready: string;
}

const compare = ({ older, run }: Ids) => `/ui/compare?baseline=${older}&candidate=${run}`;

const CASES: Case[] = [
  {
    name: "the runs",
    address: () => "/",
    request: /\/runs\?/,
    loading: "Loading the runs…",
    ready: "table.runs tbody tr",
  },
  {
    name: "the trend of a test",
    address: () => "/?test=support",
    request: /\/runs\?test_name=support&status=completed&limit=100/,
    loading: "Loading the trend…",
    ready: ".trend a",
  },
  {
    name: "a run",
    address: ({ run }) => `/ui/runs/${run}`,
    request: /\/summary/,
    loading: "Loading the run…",
    ready: ".head-card",
  },
  {
    name: "the scenarios of a run",
    address: ({ run }) => `/ui/runs/${run}?view=scenarios`,
    request: /\/scenarios\?/,
    loading: "Loading the scenarios…",
    ready: ".cells",
  },
  {
    name: "the turns of a run",
    address: ({ run }) => `/ui/runs/${run}`,
    request: /\/turns\?/,
    loading: "Loading the replies…",
    ready: ".turn-rows .name",
  },
  {
    name: "a turn",
    address: ({ run }) => `/ui/runs/${run}?turn=0/1/0`,
    request: /\/turns\/0\/1\/0$/,
    loading: "Loading the turn…",
    ready: ".score-list",
  },
  {
    name: "the other attempts at a turn",
    address: ({ run }) => `/ui/runs/${run}?turn=0/1/0`,
    request: /\/turns\?scenario=0/,
    loading: "Loading the attempts…",
    ready: ".attempt-buttons",
  },
  {
    name: "a comparison",
    address: compare,
    request: /(?<!ui)\/compare\?/,
    loading: "Loading the comparison…",
    ready: ".verdict .sentence",
  },
  {
    name: "the scenarios of a comparison",
    address: compare,
    request: /\/compare\/scenarios\?/,
    loading: "Loading the scenarios…",
    ready: ".scatter .dot",
  },
  {
    name: "the turns of a comparison",
    address: compare,
    request: /\/compare\/turns\?/,
    loading: "Loading the turns…",
    ready: ".changes summary",
  },
  {
    name: "the runs to compare",
    address: () => "/ui/compare",
    request: /\/runs\?/,
    ready: "select option:nth-child(3)",
  },
  {
    name: "a group",
    address: ({ group }) => `/ui/compare?group=${group}`,
    request: /(?<!ui)\/compare\?group=/,
    loading: "Loading the runs…",
    ready: ".verdict .sentence",
  },
  {
    name: "the datasets of a new run",
    address: () => "/ui/new",
    request: /\/datasets\?/,
    ready: "select option:nth-child(2)",
  },
  {
    name: "the datasets",
    address: () => "/ui/datasets",
    request: /\/datasets\?/,
    loading: "Loading the datasets…",
    ready: "table.runs tbody tr",
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
    name: "the agreement",
    address: ({ run }) => `/ui/runs/${run}?view=grades`,
    request: /\/agreement/,
    loading: "Loading the grades…",
    ready: ".figures",
  },
  {
    name: "the grades of a turn",
    address: ({ run }) => `/ui/runs/${run}?turn=0/1/0`,
    request: /\/turns\/0\/1\/0\/grades/,
    loading: "Loading the grades…",
    ready: ".grade-form",
  },
];

for (const { name, address, request, loading, ready } of CASES) {
  suite.test(
    `${name}: waiting, an error and a lost network are shown, and a way to try again`,
    async (fixture, open) => {
      await using tab = await open(`${fixture.url}/ui/no/such/view`);
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
      await page.goto(`${fixture.url}${address(fixture)}`);
      if (loading) {
        await page.getByText(loading).first().waitFor();
        await checkAccessibility(page, { isQuick: true });
      }
      held.resolve();
      await page.getByText("The database is on fire.").first().waitFor();
      await page.getByText("r-1", { exact: true }).first().waitFor();
      await checkAccessibility(page, { isQuick: true });
      await page.unroute(request);
      await page.route(request, (route: Route) => route.abort("internetdisconnected"));
      await page.getByRole("button", { name: "Try again" }).first().click();
      await page.getByText("Cannot reach the service.").first().waitFor();
      await checkAccessibility(page, { isQuick: true });
      await page.unroute(request);
      await page.getByRole("button", { name: "Try again" }).first().click();
      await page.locator(ready).first().waitFor({ state: "attached" });
      await page.getByText("Cannot reach the service.").waitFor({ state: "detached" });
    },
  );
}

suite.test("a view whose script does not come has the header and a way to try again", async (
  { url },
  open,
) => {
  await using tab = await open(`${url}/ui/no/such/view`);
  const { page } = tab;
  tab.expect(/ERR_FAILED/);
  const scripts = /\/assets\/several/;
  await page.route(scripts, (route) => route.abort());
  await page.goto(`${url}/ui/compare`);
  const notice = "Cannot load this part of the page. Is the service running at this address?";
  await page.getByText(notice).waitFor();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Runs" })
    .waitFor();
  await checkAccessibility(page, { isQuick: true });
});

suite.test(
  "going to the next failing turn says so if the service cannot be reached",
  async ({ url, run }, open) => {
    await using tab = await open(`${url}/ui/runs/${run}?turn=0/1/0`);
    const { page } = tab;
    tab.expect(/ERR_FAILED/);
    await page.getByRole("heading", { name: /attempt 1/ }).waitFor();
    await page.route(/\/turns\?/, (route) => route.abort());
    await page.getByRole("button", { name: /^Next/ }).click();
    await page.locator(".toast", { hasText: "cannot reach the service" }).waitFor();
  },
);
