import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { EvalConfig } from "../../../eval/config.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { evaluateBody, evaluateRequestOf, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import {
  type Answer,
  completion,
  completionChunks,
  errorStatus,
  sse,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

function service(store = memoryStore()) {
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0" });
  return createEvalHandler(createEvalDeps(config, { log: silentLogger, store }));
}

Deno.test("settings of the model are passed on unchanged", async () => {
  await using double = await startProviderDouble(completion({ content: "Paris" }));
  const parameters = {
    temperature: 0.2,
    top_p: 0.9,
    reasoning_effort: "low",
    stop: ["END"],
    min_tokens: 3,
    logit_bias: { "50256": -100 },
  };
  const body = evaluateBody({ endpoint: double.baseUrl, parameters });
  await evaluateWith(service(), body);
  const { model: _, messages: __, ...sent } = double.requests[0]!.body as Record<string, unknown>;
  assertEquals(sent, parameters);
});

Deno.test("settings that a call sets by itself are refused by their names", async () => {
  const names = ["model", "messages", "stream", "stream_options", "n"];
  const parameters = Object.fromEntries(names.map((name) => [name, 1]));
  const response = await service()(evaluateRequestOf(evaluateBody({ parameters })));
  const { errors } = await response.json();
  assertEquals(
    errors.map(({ path }: { path: string }) => path),
    names.map((name) => `parameters.${name}`),
  );
});

const streamed = sse(completionChunks({ content: "Paris" }));

Deno.test("the time to the first token is measured if replies are streamed, or a check asks for it", async () => {
  await using double = await startProviderDouble(streamed);
  const checks = [
    { type: "max_first_token_ms", value: 60_000 },
    { type: "max_first_token_ms", value: 0, negate: true, name: "it takes time" },
  ];
  const turn = { id: "t", user_message: "The capital of France?" };
  const bodies = [
    { stream_replies: true, test_batch: { id: "s", interactions: [turn] } },
    { test_batch: { id: "s", interactions: [{ ...turn, checks }] } },
  ];
  const store = memoryStore();
  const handler = service(store);
  for (const body of bodies) {
    const { results, run_id } = await evaluateWith(
      handler,
      evaluateBody({ endpoint: double.baseUrl, ...body }),
    );
    const [result] = results.scenarios[0]!.attempts[0]!.interactions;
    assertEquals([result!.agent_reply, result!.usage?.total_tokens !== undefined], ["Paris", true]);
    assert(result!.first_token_ms! <= result!.latency_ms);
    assertEquals((double.requests.at(-1)!.body as { stream?: boolean }).stream, true);
    const summary = await (await handler(
      new Request(`http://127.0.0.1/runs/${run_id}/summary`),
    )).json();
    assertEquals(summary.first_token_ms.p50, result!.first_token_ms);
  }
  const plain = await evaluateWith(
    handler,
    evaluateBody({ endpoint: double.baseUrl, test_batch: { id: "s", interactions: [turn] } }),
  );
  assertEquals((double.requests.at(-1)!.body as { stream?: boolean }).stream, undefined);
  assert(plain.results.scenarios[0]);
});

Deno.test("an endpoint that does not stream does not meet the check, and one without stream_options is asked again", async () => {
  const answers: Answer[] = [
    errorStatus(400, { message: "stream_options is not permitted" }),
    completion({ content: "Paris" }),
  ];
  await using double = await startProviderDouble(answers);
  const checks = [{ type: "max_first_token_ms", value: 60_000 }];
  const interactions = [{ id: "t", user_message: "The capital of France?", checks }];
  const { results } = await evaluateWith(
    service(),
    evaluateBody({ endpoint: double.baseUrl, test_batch: { id: "s", interactions } }),
  );
  const [result] = results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals([result!.agent_reply, result!.first_token_ms], ["Paris", undefined]);
  assertStringIncludes(result!.check_results![0]!.reason!, "did not stream the reply");
  assertEquals(double.requests.map(({ body }) => "stream_options" in (body as object)), [
    true,
    false,
  ]);
});
