import { checkAccessibility, pageSuite } from "./browser.ts";
import { startEvalFixture } from "./eval_fixture.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
const LONG = { test_name: `${WORD}-${WORD}`, model_id: `studio/${WORD}-v3`, attempts: 2 };
const LONG_BATCH = SUPPORT_BATCH.slice(0, 3).map(({ id, interactions }) => ({
  id: `${id}-${WORD}-${WORD}`,
  description: `${WORD} `.repeat(12),
  interactions: interactions.map((turn) => ({
    ...turn,
    user_message: `${turn.user_message} ${WORD.repeat(3)}`,
    reference_reply: `${turn.reference_reply} ${WORD.repeat(3)} ${"and so on ".repeat(200)}`,
  })),
}));

const suite = pageSuite(async () => {
  const [fixture, empty] = await Promise.all([startEvalFixture(), startEvalFixture()]);
  const older = await fixture.evaluate({ ...LONG, test_batch: LONG_BATCH });
  const run = await fixture.evaluate({ ...LONG, test_batch: LONG_BATCH.slice(1) });
  const name = `${WORD}-1`;
  const group = await fixture.evaluateGroup([`${name}-v2`, `${name}-v3`]);
  const dataset = WORD.replaceAll("ä", "ae");
  await fixture.putDataset(dataset, LONG_BATCH);
  return {
    ...fixture,
    ids: { older, run, group, dataset },
    empty: empty.url,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await empty[Symbol.asyncDispose]();
    },
  };
});

suite.test("where there is nothing yet, every view says what to do", async ({ empty }, open) => {
  const views: [path: string, heading: string][] = [
    ["/", "No runs yet"],
    ["/ui/datasets", "No datasets yet"],
    ["/ui/compare", "Choose two runs"],
    ["/ui/new", "New run"],
  ];
  await using tab = await open(empty);
  for (const [path, heading] of views) {
    await tab.page.goto(`${empty}${path}`);
    await tab.page.getByRole("heading", { name: heading }).waitFor();
    await checkAccessibility(tab.page);
  }
});

suite.test(
  "what an address names and does not exist is said, with a way on",
  async ({ url, ids }, open) => {
    const views: [path: string, said: RegExp][] = [
      ["/ui/runs/none", /no run has this id/],
      [`/ui/runs/${ids.run}?turn=99/1/0`, /turn/],
      ["/ui/compare?group=none", /no run is in it/],
      ["/ui/dataset/none", /none/],
      [`/ui/compare?baseline=none&candidate=${ids.run}`, /none/],
    ];
    await using tab = await open(url);
    tab.expect(/404/);
    for (const [path, said] of views) {
      await tab.page.goto(`${url}${path}`);
      await tab.page.getByRole("alert").getByText(said).waitFor();
      await checkAccessibility(tab.page);
    }
  },
);

suite.test("long words break and do not widen any view", async ({ url, ids }, open) => {
  const views: [path: string, ready: string][] = [
    ["/", "table.runs tbody tr"],
    [`/?test=${encodeURIComponent(LONG.test_name)}`, "table.runs tbody tr"],
    [`/ui/runs/${ids.older}`, ".turn-rows .name"],
    [`/ui/runs/${ids.older}?view=grades`, "text=No grades yet."],
    [`/ui/runs/${ids.older}?turn=0/1/1`, ".grade-form"],
    [`/ui/compare?baseline=${ids.older}&candidate=${ids.run}`, ".scatter .dot"],
    [`/ui/compare?group=${ids.group}`, ".verdict .sentence"],
    ["/ui/datasets", "table.runs tbody tr"],
    [`/ui/dataset/${ids.dataset}`, ".scenarios summary"],
    [`/ui/new?dataset=${ids.dataset}`, "select"],
  ];
  await using tab = await open(url);
  const { page } = tab;
  for (const [path, ready] of views) {
    await page.goto(`${url}${path}`);
    await page.locator(ready).first().waitFor();
    await page.evaluate(() => {
      for (const details of document.querySelectorAll("details")) details.open = true;
    });
    await checkAccessibility(page);
  }
});
