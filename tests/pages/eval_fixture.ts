import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";
import { startSupportBot, SUPPORT_BATCH } from "./support_bot.ts";

/** The evaluation service in a process of its own, with a model and a judge behind it. */
export interface EvalFixture extends AsyncDisposable {
  url: string;
  /** The address of the model under test. */
  endpoint: string;
  service: ServiceProcess;
  /** Evaluates and waits for the end; returns the run's id. */
  evaluate(fields?: Record<string, unknown>): Promise<string>;
  /** Starts a run and does not wait. */
  start(fields?: Record<string, unknown>): Promise<string>;
  /** Evaluates several models and waits for the end; returns the group's id. */
  evaluateGroup(models: string[], test_name?: string): Promise<string>;
  /** Writes a version of a dataset. */
  putDataset(name: string, scenarios?: unknown[]): Promise<void>;
  /** Grades a turn: `place` is `scenario/attempt_id/turn`. */
  grade(runId: string, place: string, grade: Record<string, unknown>): Promise<void>;
}

export async function startEvalFixture(
  { delayMs = 0, environment = {}, headers = {} }: {
    delayMs?: number;
    environment?: Record<string, string>;
    headers?: Record<string, string>;
  } = {},
): Promise<EvalFixture> {
  const bot = await startSupportBot({ delayMs });
  const service = await startServiceProcess("eval", {
    environment: {
      MODEL_RETRIES: "0",
      JUDGE_BASE_URL: bot.baseUrl,
      JUDGE_API_KEY: "a key",
      JUDGE_MODEL: "judge",
      ...environment,
    },
  });
  async function send(
    path: string,
    { method, body, more = {} }: { method: string; body: unknown; more?: Record<string, string> },
  ) {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers, ...more },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  }
  function post(fields: Record<string, unknown>, more: Record<string, string>) {
    const body = {
      ...("dataset" in fields ? {} : { test_batch: SUPPORT_BATCH }),
      endpoint: bot.baseUrl,
      ...("model_ids" in fields ? {} : { model_id: "studio/support-v3" }),
      test_name: "support",
      attempts: 4,
      judge_votes: 3,
      ...fields,
    };
    return send("/evaluate", { method: "POST", body, more });
  }
  const run = async (fields: Record<string, unknown>, more: Record<string, string> = {}) =>
    (await post(fields, more)).run_id;
  return {
    url: service.url,
    endpoint: bot.baseUrl,
    service,
    evaluate: (fields = {}) => run(fields),
    evaluateGroup: async (model_ids, test_name = "support") =>
      (await post({ model_ids, attempts: 2, test_name }, {})).group_id,
    start: (fields = {}) => run(fields, { prefer: "respond-async" }),
    putDataset: (name, scenarios = SUPPORT_BATCH) =>
      send(`/datasets/${name}`, { method: "PUT", body: scenarios }),
    grade: (runId, place, grade) =>
      send(`/runs/${runId}/turns/${place}/grade`, { method: "PUT", body: grade }),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await bot[Symbol.asyncDispose]();
    },
  };
}

/**
 * Waits for the result of the run whose page is shown, which is also there if the run has failed or
 * was cancelled: so asserts that it is completed, and that the page shows no other status.
 */
export async function untilCompleted(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Result" }).waitFor();
  const { origin, pathname } = new URL(page.url());
  const id = pathname.split("/").at(-1);
  const { status } = await (await fetch(`${origin}/runs/${id}?result=false`)).json();
  assertEquals(status, "completed");
  assertEquals(await page.locator(".run-head .badge").allTextContents(), []);
}

/** Grades of two people who mostly agree, on the first turns of the first eight scenarios. */
export async function gradeSome({ grade }: EvalFixture, runId: string): Promise<void> {
  const ANN = [0.75, 1, 0.5, 0.25, 1, 0.75, 1, 0.5];
  for (const [scenario, value] of ANN.entries()) {
    const place = `${scenario}/1/0`;
    await grade(runId, place, {
      value,
      author: "Ann",
      ...(value < 0.6 && { label: "incomplete", comment: "It does not say when." }),
    });
    const other = Math.max(0, value - (scenario % 3) * 0.25);
    await grade(runId, place, { value: other, author: "Ben" });
  }
}

/** Opens the tables of a group. Its replies are drawn last and move what is below them. */
export async function openFigures(page: Page): Promise<void> {
  await page.locator(".reply-grid tbody tr").first().waitFor();
  await page.getByText("Intervals and all scores").click();
}
