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
  async function send(fields: Record<string, unknown>, more: Record<string, string>) {
    const response = await fetch(`${service.url}/evaluate`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers, ...more },
      body: JSON.stringify({
        test_batch: SUPPORT_BATCH,
        endpoint: bot.baseUrl,
        model_id: "studio/support-v3",
        test_name: "support",
        attempts: 4,
        judge_votes: 3,
        ...fields,
      }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer.run_id as string;
  }
  return {
    url: service.url,
    endpoint: bot.baseUrl,
    service,
    evaluate: (fields = {}) => send(fields, {}),
    start: (fields = {}) => send(fields, { prefer: "respond-async" }),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await bot[Symbol.asyncDispose]();
    },
  };
}
