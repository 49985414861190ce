import { assertEquals } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { completionBody, startProviderDouble } from "../../fakes/provider_double.ts";

const REFUSED = "Unsupported parameter: 'max_tokens' is not supported with this model. " +
  "Use 'max_completion_tokens' instead.";

Deno.test("a model that refuses max_tokens is asked with max_completion_tokens from then on", async () => {
  await using double = await startProviderDouble(({ body }) =>
    Promise.resolve(
      "max_tokens" in body
        ? Response.json({ error: { message: REFUSED } }, { status: 400 })
        : Response.json(completionBody({ content: "Paris" })),
    )
  );
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0" });
  const service = createEvalHandler(
    createEvalDeps(config, { log: silentLogger, store: memoryStore() }),
  );
  const interactions = ["1", "2"].map((id) => ({ id, user_message: "The capital of France?" }));
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      test_batch: { id: "s", interactions },
      endpoint: double.baseUrl,
      parameters: { max_tokens: 500 },
    }),
  );
  const turns = results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals(turns.map(({ agent_reply }) => agent_reply), ["Paris", "Paris"]);
  assertEquals(
    double.requests.map(({ body }) => [body.max_tokens, body.max_completion_tokens]),
    [[500, undefined], [undefined, 500], [undefined, 500]],
  );
});
