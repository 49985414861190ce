import { assert, assertEquals } from "@std/assert";
import { becomes, checkAccessibility, findBrokenWords, pageSuite } from "./browser.ts";
import { openFigures, startEvalFixture } from "./eval_fixture.ts";
import { PAYLOADS } from "./payloads.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const MODELS = ["studio/support-v2", "studio/support-v3"];

const suite = pageSuite(async () => {
  const fixture = await startEvalFixture();
  return { ...fixture, group: await fixture.evaluateGroup(MODELS) };
});

suite.test(
  "several models are shown side by side, with their scores and which is better",
  async ({ url, group }, open) => {
    await using tab = await open(`${url}/ui/compare?group=${group}`);
    const { page } = tab;
    await page.locator(".verdict .sentence").waitFor();
    await openFigures(page);
    const models = page.getByRole("region", { name: "Models" });
    assertEquals(await models.locator("thead th").allTextContents(), ["Figure", ...MODELS]);
    await models.getByText("words in common", { exact: true }).waitFor();
    await checkAccessibility(page);
    await page.getByText("Why?").click();
    await page.getByRole("region", { name: "Pairs" }).getByRole("link").click();
    await page.waitForURL(/\/ui\/compare\?baseline=.+&candidate=.+/);
    await page.getByText("Turns that changed most").waitFor();
    await page.goBack();
    await openFigures(page);
    await models.getByRole("link").first().click();
    await page.waitForURL(/\/ui\/runs\//);
    await page.getByRole("link", { name: "Beside other models" }).click();
    await page.waitForURL(/\/ui\/compare\?group=/);
  },
);

suite.test("a group says in one sentence which model is better, of how many", async (
  { url, group },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  const models = [...MODELS, "studio/support-v1"];
  const sentence = page.locator(".verdict .sentence");
  for (
    const [best, words] of [
      [models, "None of the 3 models is clearly better on 10 scenarios."],
      [MODELS.slice(1), "studio/support-v3 is better than the 2 other models on 10 scenarios."],
      [
        MODELS,
        "The best of the 3 models on 10 scenarios is one of these: " + MODELS.join(", ") + ".",
      ],
    ] as const
  ) {
    await page.route(new RegExp(`/compare\\?group=${group}$`), async (route) => {
      if (route.request().isNavigationRequest()) return route.fallback();
      const report = await (await fetch(route.request().url())).json();
      const third = { ...report.runs[0], name: "studio/support-v1" };
      await route.fulfill({ json: { ...report, runs: [...report.runs, third], best } });
    });
    await page.goto(`${url}/ui/compare?group=${group}`);
    await becomes(async () => (await sentence.innerText()).slice(0, words.length), words);
    await page.unrouteAll({ behavior: "wait" });
  }
});

suite.test("a group's verdict has a line per pair, with its p-value in two digits", async (
  { url, group },
  open,
) => {
  await using tab = await open(url);
  const { page } = tab;
  await page.route(new RegExp(`/compare\\?group=${group}$`), async (route) => {
    if (route.request().isNavigationRequest()) return route.fallback();
    const report = await (await fetch(route.request().url())).json();
    const { candidate, scores, ...pair } = report.pairs[0];
    const pairs = [0.8281, 0.0059, 0.00001].map((p, index) => ({
      ...{ ...pair, candidate: `${candidate} ${index}`, better: null },
      scores: { overall: { ...scores.overall, difference: 0.1, ci95: null, p } },
    }));
    await route.fulfill({ json: { ...report, pairs } });
  });
  await page.goto(`${url}/ui/compare?group=${group}`);
  await page.locator(".verdict").getByText("Why?").click();
  const lines = page.getByRole("region", { name: "Pairs" }).locator("tbody tr");
  await lines.first().waitFor();
  assertEquals(
    (await lines.allInnerTexts()).map((text) => text.split(/\t|\n/).filter(Boolean).slice(0, 3)),
    ["0.83", "0.0059", "< 0.0001"].map((p, index) => [
      `${MODELS[0]} → ${MODELS[1]} ${index}`,
      "+0.100",
      p,
    ]),
  );
});

suite.test(
  "the replies of all models stand beside each other, and the better one is kept as a grade",
  async ({ url, group }, open) => {
    await using tab = await open(`${url}/ui/compare?group=${group}`);
    const { page } = tab;
    const grid = page.getByRole("region", { name: "Replies by model" });
    const row = grid.getByRole("row", { name: /order-status, turn 1/ });
    await row.getByText("Where is order 4711?").waitFor();
    assertEquals(await row.getByRole("cell").count(), MODELS.length);
    for (const model of MODELS) await grid.getByRole("columnheader", { name: model }).waitFor();
    const prefer = row.getByRole("checkbox", { name: "prefer this reply" }).first();
    await prefer.check();
    await page.getByText("The grade is saved.").waitFor();
    await checkAccessibility(page);
    await page.reload();
    await becomes(() => prefer.isChecked(), true);
    const { runs: [first] } = await (await fetch(`${url}/compare?group=${group}`)).json();
    const { grades } = await (await fetch(`${url}/runs/${first.run_id}/grades`)).json();
    assertEquals(
      grades.map(({ scenario_id, value, label }: Record<string, unknown>) => [
        scenario_id,
        value,
        label,
      ]),
      [["order-status", 1, "preferred"]],
    );
    await prefer.uncheck();
    await page.getByText("The grade is deleted.").waitFor();
  },
);

suite.test("a telephone shows every model's reply, with its name, one below the other", async (
  { url, group },
  open,
) => {
  const viewport = { width: 390, height: 800 };
  await using tab = await open(`${url}/ui/compare?group=${group}`, { viewport });
  const { page } = tab;
  const cells = page.locator(".reply-grid tbody tr").first().locator("td");
  await cells.nth(1).waitFor();
  for (const [index, model] of MODELS.entries()) {
    const cell = cells.nth(index);
    const box = (await cell.boundingBox())!;
    assertEquals([box.x >= 0, box.x + box.width <= viewport.width], [true, true], model);
    const name = await cell.evaluate((cell) => getComputedStyle(cell, "::before").content);
    assertEquals(name, `"${model}"`);
  }
  await checkAccessibility(page, { isQuick: true });
});

suite.test("a telephone breaks no word of a group's tables, and names begin in one line", async (
  { url, group },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?group=${group}`, {
    viewport: { width: 390, height: 800 },
  });
  const { page } = tab;
  await openFigures(page);
  const scores = page.getByRole("region", { name: "Models" }).locator("tbody th .term");
  await scores.first().waitFor();
  const sides = await scores.evaluateAll((names) =>
    names.map((name) => getComputedStyle(name).textAlign)
  );
  assertEquals([...new Set(sides)], ["start"]);
  const status = page.getByRole("region", { name: "Models" }).getByText("completed");
  assertEquals(await findBrokenWords(status), []);
});

suite.test(
  "a group is started from the form, exported and deleted",
  async ({ url, endpoint, putDataset }, open) => {
    await putDataset("of-a-group");
    await using tab = await open(`${url}/ui/new?dataset=of-a-group`);
    const { page } = tab;
    await page.getByLabel("Endpoint").fill(endpoint);
    await page.getByLabel("Model", { exact: true }).fill(`${MODELS[0]}, ${MODELS[1]}`);
    await page.getByText(`--model ${MODELS[1]}`).waitFor();
    await page.getByLabel("Test name").fill("from the form");
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/\/ui\/compare\?group=/);
    await page.locator(".reply-grid tbody tr").first().waitFor();
    for (const format of ["JSON", "CSV", "Markdown", "HTML"]) {
      await page.getByRole("button", { name: "Export" }).click();
      await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: format }).click(),
      ]);
    }
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.getByRole("link", { name: "support" }).first().waitFor();
    assertEquals(await page.getByRole("link", { name: "from the form" }).count(), 0);
    await checkAccessibility(page);
  },
);

suite.test("a group is retried from its page", async ({ url, endpoint }, open) => {
  const answer = await fetch(`${url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ test_batch: SUPPORT_BATCH, model_ids: MODELS, endpoint }),
  });
  const { group_id, runs } = await answer.json();
  for (const { run_id } of runs) await fetch(`${url}/runs/${run_id}/cancel`, { method: "POST" });
  await using tab = await open(`${url}/ui/compare?group=${group_id}`);
  const { page } = tab;
  await page.locator(".page-head .badge", { hasText: "cancelled" }).waitFor();
  await page.getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: "Retry what failed" }).click();
  await page.locator(".reply-grid tbody tr").first().waitFor();
});

suite.test(
  "a report shows a group without a server: replies, reasons, filters and each run",
  async ({ url, group }, open) => {
    const path = `${await Deno.makeTempDir()}/group.html`;
    const file = await fetch(`${url}/compare/export?group=${group}&format=html`);
    await Deno.writeTextFile(path, await file.text());
    await using tab = await open(`file://${path}`);
    const { page } = tab;
    await page.locator(".verdict .sentence").waitFor();
    const rows = page.locator(".reply-grid tbody tr");
    await rows.first().waitFor();
    const all = await rows.count();
    await page.getByLabel("Which turns").selectOption("failing");
    await becomes(async () => await rows.count() < all, true);
    await rows.first().locator(".why").first().waitFor();
    await checkAccessibility(page);
    await rows.first().getByRole("link", { name: /open the turn/ }).first().click();
    await page.getByRole("heading", { name: "Reply and reference" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Reply and reference" }).waitFor();
    await page.goBack();
    await rows.first().waitFor();
    assert(await rows.count() < all, "the filter is kept");
    await page.getByText("Intervals and all scores").click();
    const models = page.getByRole("region", { name: "Models" });
    for (const name of MODELS) await models.getByText(name).waitFor();
    await models.getByText("words in common", { exact: true }).waitFor();
    await models.getByRole("link", { name: MODELS[0]! }).click();
    await page.locator(".head-card").waitFor();
    await page.getByRole("link", { name: "Scores", exact: true }).click();
    await page.getByRole("heading", { name: "How reliably scenarios pass" }).waitFor();
    await page.getByRole("link", { name: "The comparison" }).click();
    await rows.first().waitFor();
  },
);

suite.test("payloads stay text in the names of models", async (fixture, open) => {
  const { url, endpoint } = fixture;
  const answer = await fetch(`${url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      test_name: PAYLOADS[6],
      test_batch: SUPPORT_BATCH.slice(0, 1),
      targets: PAYLOADS.slice(0, 12).map((name, index) => ({
        endpoint,
        model_id: `studio/${index}-v3`,
        name,
      })),
    }),
  });
  const { group_id } = await answer.json();
  await using tab = await open(`${url}/ui/compare?group=${group_id}`);
  const { page } = tab;
  for (const ready of [".verdict .sentence", "table.runs tbody tr"]) {
    await page.locator(ready).first().waitFor();
    assertEquals(await page.locator("main script, main img, main iframe, main object").count(), 0);
    await page.goto(url);
  }
});

suite.test("a group that does not exist leads to the runs, and a run of one to the others", async (
  { url, group },
  open,
) => {
  await using tab = await open(`${url}/ui/compare?group=none`);
  tab.expect(/404/);
  await tab.page.getByRole("link", { name: "All runs" }).click();
  await tab.page.locator(`a[href="/ui/compare?group=${group}"]`).first().click();
  await tab.page.locator(".verdict .sentence").waitFor();
});

suite.test(
  "three runs of the list are compared side by side, and two as a pair or side by side",
  async ({ url, evaluate }, open) => {
    const test_batch = SUPPORT_BATCH.slice(0, 1);
    for (const attempts of [1, 1, 1]) await evaluate({ test_name: "alone", test_batch, attempts });
    await using tab = await open(`${url}/?q=alone`);
    const { page } = tab;
    const ticks = page.locator("table.runs tbody").getByRole("checkbox");
    for (const index of [0, 1, 2]) await ticks.nth(index).check();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL(/\/ui\/compare\?runs=/);
    await becomes(() => page.locator(".reply-grid thead th").count(), 4);
    await page.goBack();
    for (const index of [0, 1]) await ticks.nth(index).check();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("link", { name: "Side by side" }).click();
    await becomes(() => page.locator(".reply-grid thead th").count(), 3);
  },
);
