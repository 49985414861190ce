import { assert, assertEquals, assertExists, assertStringIncludes } from "@std/assert";
import { EvaluateResponse } from "../../eval/schemas/evaluate_response.ts";
import { providerError } from "../fakes/eval_ports.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../fakes/eval_service.ts";
import { until } from "../fakes/until.ts";

Deno.test("a completed run answers message and results in the shape of the specification", async () => {
  const { service } = evalService(() => "Hello there");
  const answer = await evaluateWith(
    service,
    evaluateBody({
      attempts: 2,
      test_name: "nightly",
      test_batch: {
        id: "s1",
        description: "greets",
        interactions: [{
          id: "i1",
          user_message: "Hello",
          agent_reply: "",
          reference_reply: "Hello there!",
          interaction_type: "opening",
          reference_metadata: { intent: "greeting", sentiment: "neutral" },
          generated_metadata: {},
        }],
      },
    }),
  );
  EvaluateResponse.parse(answer);
  assertEquals(answer.message, "Evaluation completed successfully");
  assertEquals(answer.test_name, "nightly");
  assertEquals(answer.endpoint, "http://127.0.0.1:9/v1");
  assertEquals(answer.model_id, "m");
  assertEquals(answer.results.scenarios.length, 1);
  const [scenario] = answer.results.scenarios;
  assertEquals(scenario?.scenario_id, "s1");
  assertEquals(scenario?.attempts.map((attempt) => attempt.attempt_id), [1, 2]);
  const interaction = scenario?.attempts[0]?.interactions[0];
  assertEquals(interaction?.agent_reply, "Hello there");
  assertEquals(interaction?.generated_metadata.sentiment, "neutral");
  assertEquals(interaction?.scores.exact_match, 1);
  assertEquals(interaction?.scores.token_f1, 1);
  assertEquals(interaction?.scores.rouge_l, 1);
  assertEquals(interaction?.scores.intent_match, 1);
  assertExists(interaction?.latency_ms);
  assertEquals(scenario?.attempts[1]?.average_scores.exact_match, 1);
  assertEquals(scenario?.average_scores.exact_match, 1);
  assertEquals(answer.results.average_scores.exact_match, 1);
});

Deno.test("what a request may leave out has its default", async () => {
  const { service, asked } = evalService();
  const answer = await evaluateWith(service, evaluateBody());
  assertEquals(answer.test_name, "s1");
  assertEquals(asked.length, 1);
  const [scenario] = answer.results.scenarios;
  assertEquals(scenario?.description, "");
  const interaction = scenario?.attempts[0]?.interactions[0];
  assertEquals(interaction?.reference_reply, "");
  assertEquals(interaction?.interaction_type, "opening");
  assertEquals(interaction?.reference_metadata, {});
  assertEquals(interaction?.generated_metadata, {});
});

Deno.test("a turn without a reference is not scored against an empty one", async () => {
  const { service } = evalService();
  const answer = await evaluateWith(service, evaluateBody());
  const scores = answer.results.scenarios[0]!.attempts[0]!.interactions[0]!.scores;
  assert(Object.keys(scores).length > 5);
  assertEquals(new Set(Object.values(scores)), new Set([null]));
});

Deno.test("fields that the service does not know come back as they were sent", async () => {
  const { service } = evalService();
  const answer = await evaluateWith(
    service,
    evaluateBody({
      ticket: "T-1",
      message: "not ours to show",
      test_batch: {
        id: "s1",
        owner: { team: "support" },
        interactions: [{ id: "i1", user_message: "Hello", weight: 3, interaction_type: "closing" }],
      },
    }),
  );
  const record = answer as unknown as Record<string, unknown>;
  assertEquals(record.ticket, "T-1");
  assertEquals(record.message, "Evaluation completed successfully");
  const [scenario] = answer.results.scenarios;
  assertEquals(scenario?.owner, { team: "support" });
  assertEquals(scenario?.attempts[0]?.interactions[0]?.weight, 3);
  assertEquals(scenario?.attempts[0]?.interactions[0]?.interaction_type, "closing");
});

Deno.test("a batch may be a list of scenarios", async () => {
  const { service } = evalService();
  const scenario = (id: string) => ({ id, interactions: [{ id: "i", user_message: "Hello" }] });
  const answer = await evaluateWith(
    service,
    evaluateBody({ test_batch: [scenario("a"), scenario("b")], attempts: 3 }),
  );
  assertEquals(answer.results.scenarios.map(({ scenario_id }) => scenario_id), ["a", "b"]);
  assertEquals(answer.results.scenarios.map(({ attempts }) => attempts.length), [3, 3]);
});

Deno.test("the message counts the interactions that failed", async () => {
  const { service } = evalService((_conversation, call) => {
    if (call <= 3) throw providerError(500);
    return "fine";
  });
  const answer = await evaluateWith(service, evaluateBody({ attempts: 40 }));
  assertEquals(answer.message, "Evaluation completed: 3 of 40 interactions failed");
});

Deno.test("a client that leaves ends its run", async () => {
  const controller = new AbortController();
  const { service, asked, store } = evalService((_, call) => {
    if (call === 2) controller.abort();
    return "fine";
  });
  const request = new Request(evaluateRequestOf(evaluateBody({ attempts: 1000 })), {
    signal: controller.signal,
  });
  const response = await service(request);
  assertEquals(response.status, 499);
  assert(asked.length < 100, `${asked.length} calls were made`);
  await until(async () => (await store.unfinishedRuns()).length === 0);
});

Deno.test("GET / describes the service to a program", async () => {
  const { service } = evalService();
  const response = await service(new Request("http://127.0.0.1:8080/"));
  const index = await response.json();
  assertEquals(index.name, "assay-eval");
  assertStringIncludes(Object.keys(index.endpoints).join(), "POST /evaluate");
});

Deno.test("GET /scores lists every score that a result has", async () => {
  const { service } = evalService();
  const { scores } = await (await service(new Request("http://127.0.0.1:8080/scores"))).json();
  const described = new Set(scores.map(({ name }: { name: string }) => name));
  for (const { definition, range, method } of scores) {
    assert(definition && method);
    assertEquals(range, [0, 1]);
  }
  const answer = await evaluateWith(
    service,
    evaluateBody({
      test_batch: {
        id: "s",
        interactions: [{
          id: "i",
          user_message: "Hello",
          reference_reply: "fine",
          reference_metadata: { intent: "greeting" },
        }],
      },
    }),
  );
  for (const name of Object.keys(answer.results.average_scores)) {
    assert(described.has(name) || /_match$/.test(name), `${name} is not described`);
  }
});

Deno.test("GET /scores/self-test replays the vectors and shows the largest deviation", async () => {
  const { service } = evalService();
  const response = await service(new Request("http://127.0.0.1:8080/scores/self-test"));
  const result = await response.json();
  assertEquals([result.passed, result.pairs], [true, 152]);
  assert(result.largest_deviation >= 0 && result.largest_deviation <= 1e-9);
  assertEquals(Object.keys(result.scores).length, 8);
});
