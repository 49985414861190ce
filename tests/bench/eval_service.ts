import { countEncoders } from "../../eval/score/wiring.ts";
import { EvalConfig } from "../../eval/config.ts";
import * as observation from "../../eval/ask/observation.ts";
import { createEvalHandler } from "../../eval/handler.ts";
import { openStore } from "../../eval/store/open_store.ts";
import { createEvalDeps } from "../../eval/wiring.ts";
import { parseConfig } from "../../shared/service/config.ts";
import { silentLogger } from "../../shared/service/log.ts";

/** Concurrent conversations. */
export const CONCURRENCY = 32;

/** The whole service but its socket, storing into a file as it does in production. */
export async function createEvaluator() {
  const config = parseConfig(EvalConfig, { EVAL_CONCURRENCY: String(CONCURRENCY) });
  const folder = await Deno.makeTempDir();
  const store = await openStore({ path: `${folder}/eval.db` });
  const deps = createEvalDeps(config, { log: silentLogger, store, observation });
  const service = createEvalHandler(deps);
  return {
    encoders: countEncoders(1),
    /** Resolves to the size of the answer in bytes. */
    async evaluate(test_batch: unknown, endpoint: string, attempts: number): Promise<number> {
      const response = await service(
        new Request("http://127.0.0.1/evaluate", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ test_batch, endpoint, attempts, model_id: "m" }),
        }),
      );
      if (!response.ok) throw new Error(await response.text());
      let bytes = 0;
      for await (const chunk of response.body!) bytes += chunk.byteLength;
      return bytes;
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

export function createBatch(scenarios: number, turns: number) {
  return Array.from({ length: scenarios }, (_, scenario) => ({
    id: `scenario-${scenario}`,
    interactions: Array.from({ length: turns }, (_, turn) => ({
      id: `${scenario}.${turn}`,
      user_message: `Where is order ${scenario}, and when does it arrive?`,
      reference_reply: `Order ${scenario} was shipped on Monday; it should arrive by Thursday.`,
      reference_metadata: {
        intent: scenario % 2 ? "order_status" : "delivery_date",
        sentiment: "neutral",
      },
    })),
  }));
}
