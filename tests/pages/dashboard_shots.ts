import type { Page } from "playwright-core";
import { gradeSome, startEvalFixture } from "./eval_fixture.ts";
import type { Shot } from "./screenshots.ts";
import { SUPPORT_BATCH } from "./support_bot.ts";

const PRICES = JSON.stringify({
  "studio/*": { input: 2, output: 8 },
  judge: { input: 1, output: 4 },
});

const CHECKED_BATCH = SUPPORT_BATCH.map((scenario) => ({
  ...scenario,
  checks: [
    { type: "max_words", value: 40, name: "short" },
    { type: "not_contains", value: "store credit", name: "no store credit", required: true },
  ],
}));

/** The pictures of the dashboard, on a scripted model and judge. */
export async function dashboardShots(): Promise<{ shots: Shot[] } & AsyncDisposable> {
  const fixture = await startEvalFixture({ environment: { PRICES, MODEL_RETRIES: "2" } });
  const slow = await startEvalFixture({ delayMs: 300, environment: { EVAL_CONCURRENCY: "8" } });
  const empty = await startEvalFixture();
  const { url } = fixture;
  for (const attempts of [2, 3]) {
    await fixture.evaluate({ model_id: "studio/support-v2", attempts });
  }
  const old = await fixture.evaluate({ model_id: "studio/support-v2" });
  const now = await fixture.evaluate({ test_batch: CHECKED_BATCH });
  await fixture.evaluate({ test_name: "smoke", attempts: 1 });
  await gradeSome(fixture, now);
  const group = await fixture.evaluateGroup([
    "studio/support-v1",
    "studio/support-v2",
    "studio/support-v3",
  ]);
  await fixture.grade(now, "3/1/0", { value: 0.5, author: "Ann", comment: "On second thoughts." });
  await fixture.putDataset("support", SUPPORT_BATCH.slice(0, 8));
  await fixture.putDataset("support");
  await fixture.putDataset("smoke", SUPPORT_BATCH.slice(0, 2));
  await fixture.putDataset("refunds.2026", SUPPORT_BATCH.slice(0, 1));
  const run = `${url}/ui/runs/${now}`;

  const view = (
    name: string,
    { address, ready, height = 900, isDocumented = true, act }: {
      address: string;
      /** What is there when the view is. */
      ready: string;
      height?: number;
      isDocumented?: boolean;
      act?: (page: Page) => Promise<void>;
    },
  ): Shot => ({
    name: `eval-${name}`,
    height,
    isDocumented,
    async take(page) {
      await page.goto(address);
      await page.locator(ready).first().waitFor();
      await act?.(page);
      await page.waitForFunction(() => !document.querySelector(".spinner"));
    },
  });

  const shots: Shot[] = [
    view("runs", {
      address: `${url}/?test=support`,
      ready: "table.runs tbody tr:nth-child(5) .score-cell",
      height: 640,
    }),
    view("run", {
      address: run,
      ready: ".turn-rows .name",
      height: 1000,
      act: async (page) => {
        await page.locator(".against").waitFor();
        await page.getByRole("button", { name: /^Passed \d/ }).waitFor();
      },
    }),
    view("scenarios", {
      address: `${run}?view=scenarios`,
      ready: "#main table tbody tr",
      isDocumented: false,
    }),
    view("scores", {
      address: `${run}?view=scores`,
      ready: "#main table tbody tr",
      isDocumented: false,
    }),
    view("grades", {
      address: `${run}?view=grades`,
      ready: "[aria-label=Grades] tbody tr",
      height: 1000,
    }),
    view("turn", { address: `${run}?turn=3/1/0`, ready: ".grade-form", height: 1500 }),
    view("compare", {
      address: `${url}/ui/compare?baseline=${old}&candidate=${now}`,
      ready: ".scatter .dot",
      height: 1100,
    }),
    view("new-run", {
      address: `${url}/ui/new?dataset=support`,
      ready: ".scenarios summary",
      async act(page) {
        await page.getByLabel("Endpoint").fill(fixture.endpoint);
        const model = page.getByRole("combobox", { name: "Model", exact: true });
        for (const id of ["studio/support-v2", "studio/support-v3"]) {
          await model.click();
          await page.getByRole("option", { name: id }).click();
        }
      },
    }),
    view("group", {
      address: `${url}/ui/compare?group=${group}`,
      ready: ".reply-grid tbody tr",
      height: 1000,
    }),
    view("datasets", { address: `${url}/ui/datasets`, ready: "table.runs", height: 400 }),
    view("dataset", {
      address: `${url}/ui/dataset/support`,
      ready: ".scenarios summary",
      act: (page) => page.locator(".scenarios summary").first().click(),
    }),
    view("new-dataset", {
      address: `${url}/ui/datasets/new`,
      ready: "textarea.batch",
      height: 940,
      async act(page) {
        await page.getByRole("button", { name: "Use an example" }).click();
        await page.locator(".scenarios summary").first().waitFor();
      },
    }),
    view("add-scenario", {
      address: `${url}/ui/datasets/add#name=support&scenario=${
        encodeURIComponent(JSON.stringify({ ...SUPPORT_BATCH[0]!, id: "from-the-chat" }))
      }`,
      ready: ".start button:enabled",
      height: 940,
    }),
    view("live", {
      address: slow.url,
      ready: "h2",
      async act(page) {
        const id = await slow.start({ attempts: 12, test_name: "a long one" });
        await page.goto(`${slow.url}/ui/runs/${id}`);
        await page.locator(".turn-rows .name").nth(4).waitFor();
      },
    }),
    view("edit-scenario", {
      address: `${url}/ui/dataset/smoke`,
      ready: ".scenarios summary",
      isDocumented: false,
      async act(page) {
        await page.locator(".scenarios summary").first().click();
        await page.getByRole("button", { name: "Edit refund-30-days" }).click();
      },
    }),
    view("empty", { address: empty.url, ready: ".state h2", isDocumented: false }),
    view("empty-datasets", {
      address: `${empty.url}/ui/datasets`,
      ready: ".state h2",
      isDocumented: false,
    }),
    view("no-grades", {
      address: `${url}/ui/runs/${old}?view=grades`,
      ready: "text=Start grading",
      isDocumented: false,
    }),
    view("error", {
      address: `${url}/ui/dataset/none`,
      ready: ".notice",
      isDocumented: false,
    }),
    view("right-to-left", {
      address: `${run}?turn=9/1/0`,
      ready: ".grade-form",
      isDocumented: false,
    }),
    {
      name: "eval-report",
      height: 900,
      async take(page) {
        const file = await Deno.makeTempFile({ suffix: ".html" });
        const report = await fetch(`${url}/runs/${now}/export?format=html`);
        await Deno.writeTextFile(file, await report.text());
        await page.goto(`file://${file}`);
        await page.getByRole("link", { name: "Grades" }).click();
        await page.locator(".figures").first().waitFor();
      },
    },
  ];
  return {
    shots,
    async [Symbol.asyncDispose]() {
      for (const one of [fixture, slow, empty]) await one[Symbol.asyncDispose]();
    },
  };
}
