import { assertEquals } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { completionBody, startProviderDouble } from "../../fakes/provider_double.ts";

Deno.test("a scenario's system prompt is sent instead of the run's, and returned with it", async () => {
  await using double = await startProviderDouble(() =>
    Promise.resolve(Response.json(completionBody({ content: "Paris" })))
  );
  const service = createEvalHandler(
    createEvalDeps(parseConfig(EvalConfig, {}), { log: silentLogger, store: memoryStore() }),
  );
  const interactions = [{ id: "1", user_message: "The capital of France?" }];
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      test_batch: [
        { id: "own", system_prompt: "One word.", interactions },
        { id: "run's", system_prompt: "", interactions },
        { id: "run's too", system_prompt: null, interactions },
      ],
      endpoint: `${double.baseUrl}/v1`,
      parameters: { system_prompt: "Be kind." },
    }),
  );
  assertEquals(results.scenarios[0]!.system_prompt, "One word.");
  const sent = double.requests.map(({ body }) => body.messages as { content: string }[]);
  assertEquals(sent.map((messages) => messages.map(({ content }) => content)).sort(), [
    ["Be kind.", "The capital of France?"],
    ["Be kind.", "The capital of France?"],
    ["One word.", "The capital of France?"],
  ]);
});
