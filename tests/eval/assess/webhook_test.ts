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
  errorStatus,
  json,
  raw,
  startProviderDouble,
} from "../../fakes/provider_double.ts";

function service(environment: Record<string, string> = {}) {
  const config = parseConfig(EvalConfig, { MODEL_RETRIES: "0", ...environment });
  return createEvalHandler(createEvalDeps(config, { log: silentLogger, store: memoryStore() }));
}

const interactions = [
  {
    id: "a",
    user_message: "The capital of France?",
    checks: [{ type: "contains", value: "Paris" }],
    ticket: 7,
  },
  { id: "b", user_message: "Sure?" },
];

Deno.test("a scorer of the caller's own gets each turn and adds its score and reason", async () => {
  await using model = await startProviderDouble(completion({ content: "Paris" }));
  await using scorer = await startProviderDouble(json({ score: 0.25, reason: "curt" }));
  const url = `${scorer.origin}/score`;
  const environment = {
    EVAL_API_KEY: "sk-of-the-model",
    EVAL_CREDENTIALS: JSON.stringify({ [scorer.origin]: "of-the-scorer" }),
  };
  const { results } = await evaluateWith(
    service(environment),
    evaluateBody({
      endpoint: model.baseUrl,
      test_batch: { id: "s", interactions },
      scorers: [{ name: "politeness", url }],
    }),
  );
  const turns = results.scenarios[0]!.attempts[0]!.interactions;
  for (const turn of turns) {
    assertEquals(turn.scores.politeness, 0.25);
    assertEquals(turn.score_reasons, { politeness: "curt" });
    assertEquals(turn.score_methods?.politeness, url);
  }
  assertEquals(results.average_scores.politeness, 0.25);
  const [, second] = scorer.requests.map(({ body }) => body as Record<string, unknown>)
    .toSorted((a, b) => (a.conversation as []).length - (b.conversation as []).length);
  assertEquals(second!.scenario_id, "s");
  assertEquals(second!.conversation, [
    { role: "user", content: "The capital of France?" },
    { role: "assistant", content: "Paris" },
  ]);
  const asked = scorer.requests.map(({ body }) => (body as { interaction: object }).interaction);
  assert(asked.some((turn) => "ticket" in turn && turn.ticket === 7));
  assertEquals(scorer.requests[0]!.headers.get("authorization"), "Bearer of-the-scorer");
});

const failures: [name: string, answer: Answer, reason: string][] = [
  ["is down", errorStatus(500), "it answered status 500"],
  ["answers no JSON", raw("oops"), "the answer of the scorer must be"],
  ["answers a score above 1", json({ score: 7 }), "the answer of the scorer must be"],
  ["answers a text", json({ score: "1" }), "the answer of the scorer must be"],
  ["gives none", json({ score: null, reason: "too short to tell" }), "too short to tell"],
];

for (const [name, answer, reason] of failures) {
  Deno.test(`the score of a scorer that ${name} is missing, never 0 or 1`, async () => {
    await using model = await startProviderDouble(completion({ content: "Paris" }));
    await using scorer = await startProviderDouble(answer);
    const { results } = await evaluateWith(
      service(),
      evaluateBody({
        endpoint: model.baseUrl,
        test_batch: { id: "s", interactions: interactions.slice(0, 1) },
        scorers: [{ name: "politeness", url: scorer.origin }],
      }),
    );
    const [turn] = results.scenarios[0]!.attempts[0]!.interactions;
    assertEquals(turn!.scores.politeness, null);
    assertStringIncludes(turn!.missing_scores!.politeness!, reason);
    assertEquals(turn!.error, undefined);
    assert(typeof turn!.scores.overall === "number", "it is no part of overall");
  });
}

Deno.test("scorers are guarded as endpoints are, and have names of their own", async () => {
  await using model = await startProviderDouble(completion({ content: "Paris" }));
  const refuse = async (scorers: unknown, environment = {}) => {
    const body = evaluateBody({ endpoint: model.baseUrl, scorers });
    const response = await service(environment)(evaluateRequestOf(body));
    const { code, errors = [] } = await response.json();
    return [response.status, code, errors[0]?.path];
  };
  const url = "http://127.0.0.1:9/";
  const listed = { EVAL_ENDPOINTS: model.origin };
  assertEquals(await refuse([{ name: "p", url }], listed), [
    403,
    "endpoint_not_allowed",
    undefined,
  ]);
  const any = { EVAL_ENDPOINTS: `${model.origin},*` };
  assertEquals((await refuse([{ name: "p", url }], any))[0], 403, "only public addresses");
  for (const name of ["overall", "judge"]) {
    assertEquals((await refuse([{ name, url }]))[2], "scorers.0.name");
  }
  assertEquals((await refuse([{ name: "p", url: `${url}?key=1` }]))[2], "scorers.0.url");
  assertEquals((await refuse([{ name: "p", url }, { name: "p", url }]))[2], "scorers.1.name");
  assertEquals(model.requests.length, 0);
});
