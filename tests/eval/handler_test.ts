import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertExists,
  assertStringIncludes,
} from "@std/assert";
import { pairScorers } from "../../eval/score/pair_scorers.ts";
import { EvaluateResponse } from "../../eval/test/evaluate_response.ts";
import { interaction, providerError, scenario } from "../fakes/eval_ports.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";

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
  assertEquals(Object.keys(result.scores), pairScorers.map(({ name }) => name));
});

const INVALID: [what: string, body: unknown, path: string][] = [
  ["no test_batch", { endpoint: "http://h/v1", model_id: "m" }, "test_batch"],
  [
    "a scenario without an id",
    evaluateBody({ test_batch: { interactions: [{ id: "i", user_message: "u" }] } }),
    "test_batch.id",
  ],
  [
    "no interactions",
    evaluateBody({ test_batch: { id: "s", interactions: [] } }),
    "test_batch.interactions",
  ],
  [
    "an interaction without an id",
    evaluateBody({ test_batch: { id: "s", interactions: [{ user_message: "u" }] } }),
    "test_batch.interactions.0.id",
  ],
  [
    "an interaction without a user_message",
    evaluateBody({ test_batch: { id: "s", interactions: [{ id: "i" }] } }),
    "test_batch.interactions.0.user_message",
  ],
  [
    "a fault in the second scenario of a list",
    evaluateBody({
      test_batch: [{ id: "s", interactions: [{ id: "i", user_message: "u" }] }, {
        id: 7,
        interactions: [],
      }],
    }),
    "test_batch.1.id",
  ],
  ["an empty list of scenarios", evaluateBody({ test_batch: [] }), "test_batch"],
  ["an endpoint that is no URL", evaluateBody({ endpoint: "localhost" }), "endpoint"],
  ["an endpoint that is not http", evaluateBody({ endpoint: "file:///etc/passwd" }), "endpoint"],
  ["an endpoint with a password", evaluateBody({ endpoint: "http://a:b@host/v1" }), "endpoint"],
  ["no model_id", evaluateBody({ model_id: undefined }), "model_id"],
  ["a blank model_id", evaluateBody({ model_id: " " }), "model_id"],
  ["no attempts at all", evaluateBody({ attempts: 0 }), "attempts"],
  ["half an attempt", evaluateBody({ attempts: 1.5 }), "attempts"],
  ["more attempts than EVAL_MAX_ATTEMPTS", evaluateBody({ attempts: 1001 }), "attempts"],
  ["a pass_threshold above 1", evaluateBody({ pass_threshold: 1.1 }), "pass_threshold"],
  ["too many judge_votes", evaluateBody({ judge_votes: 10 }), "judge_votes"],
  ["no judge_votes at all", evaluateBody({ judge_votes: 0 }), "judge_votes"],
  ["a blank rubric", evaluateBody({ rubric: " " }), "rubric"],
  ["an unknown protocol", evaluateBody({ protocol: "grpc" }), "protocol"],
  [
    "a misspelt parameter",
    evaluateBody({ parameters: { temprature: 1 } }),
    "parameters.temprature",
  ],
];

Deno.test("a field that is missing is called so, and one that is wrong by what it must be", async () => {
  const { service } = evalService();
  const refusals = async (body: unknown) =>
    (await (await service(evaluateRequestOf(body))).json()).errors;
  const missing = ["test_batch", "model_id", "endpoint"];
  assertEquals(await refusals({}), missing.map((path) => ({ path, message: "is missing" })));
  const endpoint = `http://h/${"x".repeat(2048)}`;
  assertEquals(await refusals(evaluateBody({ endpoint, attempts: null })), [
    { path: "endpoint", message: "must have at most 2048 characters" },
    { path: "attempts", message: "Invalid input: expected number, received null" },
  ]);
  const checks = [{ type: "contains" }, { value: "x" }];
  const test_batch = { id: "s", interactions: [{ id: "i", user_message: "u", checks }] };
  const [first, second] = await refusals(evaluateBody({ test_batch }));
  const path = "test_batch.interactions.0.checks";
  assertEquals(first, { path: `${path}.0.value`, message: "is missing" });
  assertEquals(second.path, `${path}.1.type`);
  assertStringIncludes(second.message, "'contains'"); // the known types
});

for (const [what, body, path] of INVALID) {
  Deno.test(`${what} is refused by the name of the field, and costs no call`, async () => {
    const { service, asked } = evalService();
    const response = await service(evaluateRequestOf(body));
    const problem = await response.json();
    assertEquals([response.status, problem.code], [400, "invalid_request"]);
    assertEquals(response.headers.get("content-type"), "application/problem+json");
    assert(
      problem.errors.some((error: { path: string }) => error.path === path),
      `${path} is not among ${JSON.stringify(problem.errors)}`,
    );
    assertEquals(asked.length, 0);
  });
}

Deno.test("a query parameter that a route does not have is refused by its name", async () => {
  const { service } = evalService();
  const refused = async (path: string, init?: RequestInit) => {
    const response = await service(new Request(`http://127.0.0.1:8080${path}`, init));
    return [response.status, (await response.json()).errors];
  };
  const unknown = (path: string, hint = "") => [
    400,
    [{ path, message: `unknown parameter${hint}` }],
  ];
  assertEquals(await refused("/runs?limt=5"), unknown("limt", "; did you mean limit?"));
  assertEquals(await refused("/runs?limit=5&page=2"), unknown("page"));
  const csv = {
    method: "PUT",
    headers: { "content-type": "text/csv" },
    body: "user_message\nHi\n",
  };
  assertEquals(
    await refused("/datasets/d?formt=csv", csv),
    unknown("formt", "; did you mean format?"),
  );
});

Deno.test("an endpoint that is not listed is refused, and costs no call", async () => {
  const { service, asked } = evalService(() => "fine", {
    environment: { EVAL_ENDPOINTS: "https://api.example.com" },
  });
  const response = await service(evaluateRequestOf(evaluateBody()));
  assertEquals(response.status, 403);
  assertEquals((await response.json()).code, "endpoint_not_allowed");
  assertEquals(asked.length, 0);
});

Deno.test("a failing endpoint never raises an average", async () => {
  const test_batch = {
    id: "s",
    interactions: [
      {
        id: "1",
        user_message: "a",
        reference_reply: "right",
        reference_metadata: { sentiment: "positive" },
      },
      { id: "2", user_message: "b", reference_reply: "right" },
      { id: "3", user_message: "c" },
    ],
  };
  const replies = ["right", "wrong", "anything"];
  const healthy = await evaluateWith(
    evalService((_, call) => replies[call - 1]!).service,
    evaluateBody({ test_batch }),
  );
  for (const failing of [1, 2, 3]) {
    const { service } = evalService((_, call) => {
      if (call === failing) throw providerError(500);
      return replies[call - 1]!;
    });
    const answer = await evaluateWith(service, evaluateBody({ test_batch }));
    for (const [name, value] of Object.entries(healthy.results.average_scores)) {
      const now = answer.results.average_scores[name];
      assert(
        (now ?? 0) <= (value ?? 0),
        `${name} rose from ${value} to ${now}, turn ${failing} failing`,
      );
    }
  }
});

Deno.test("every average has its statistics", async () => {
  const replies = ["right answer", "wrong thing", "right answer", "right answer"];
  const { service } = evalService((_, call) => replies[call - 1]!);
  const turn = { id: "1", user_message: "a", reference_reply: "right answer" };
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      attempts: 2,
      test_batch: { id: "s", interactions: [turn, { ...turn, id: "2" }] },
    }),
  );
  const [scenario] = results.scenarios;
  for (const level of [results, scenario!, ...scenario!.attempts]) {
    for (const [name, value] of Object.entries(level.average_scores)) {
      assertEquals(level.statistics[name]!.mean, value, name);
    }
  }
  const { exact_match } = scenario!.statistics;
  assertEquals([exact_match!.n, exact_match!.mean], [4, 0.75]);
  assertEquals(scenario!.attempts[0]!.statistics.exact_match!.n, 2);
});

Deno.test("a scenario says how many of its attempts pass, at the request's threshold", async () => {
  const { service } = evalService((_, call) => call <= 3 ? "right answer" : "wrong thing");
  const test_batch = {
    id: "s",
    interactions: [{ id: "1", user_message: "a", reference_reply: "right answer" }],
  };
  const body = evaluateBody({ attempts: 4, test_batch });
  const [scenario] = (await evaluateWith(service, body)).results.scenarios;
  assertEquals([scenario!.pass_threshold, scenario!.pass_rate], [0.7, 0.75]);
  assertEquals([scenario!.pass_at_k["2"], scenario!.pass_hat_k["2"]], [1, 0.5]);
  const always = await evaluateWith(service, { ...body, pass_threshold: 0 });
  assertEquals(always.results.scenarios[0]!.pass_rate, 1);
});

Deno.test("a scenario says how its labels turned out, and how often they flip", async () => {
  const replies = ["The parcel arrives", "We refund the price"];
  const { service } = evalService((_, call) => replies[(call - 1) % 2]!);
  const turn = (id: string, reference_reply: string, intent: string) => ({
    id,
    user_message: "a",
    reference_reply,
    reference_metadata: { intent },
  });
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      attempts: 2,
      test_batch: [
        { id: "a", interactions: [turn("1", "The parcel arrives", "delivery")] },
        { id: "b", interactions: [turn("1", "We refund the price", "refund")] },
      ],
    }),
  );
  const labels = results.scenarios.map((scenario) => scenario.labels.intent);
  assertEquals(labels[0]!.confusion, { delivery: { delivery: 1, refund: 1 } });
  assertEquals(labels[0]!.flip_rate, 1);
});

Deno.test("an interaction says how its metadata and its meaning were found", async () => {
  const { service } = evalService(() => "Hello there, nice to see you");
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      test_batch: {
        id: "s",
        interactions: [{
          id: "1",
          user_message: "Hi",
          reference_reply: "Hello, good day",
          reference_metadata: { intent: "greeting", sentiment: "positive" },
        }],
      },
    }),
  );
  const [interaction] = results.scenarios[0]!.attempts[0]!.interactions;
  assertEquals(interaction!.generated_metadata, { intent: "greeting" });
  assertEquals(interaction!.annotation?.method, "dialogue_act_rules+sentiment_model");
  const { intent, sentiment } = interaction!.annotation!.keys;
  assertEquals([intent!.confidence, intent!.self_check?.right], [0.9, 1]);
  assertEquals([sentiment!.confidence, sentiment!.counts], [null, false]);
  assertEquals(results.labels.intent!.self_check, intent!.self_check);
  assertEquals(interaction!.score_methods, { semantic_similarity: "meaning/m3" });
});

Deno.test("a judge grades by the request's rubric, as often as it asks", async () => {
  const { judge, asked } = fakeJudge((_, call) => `{"reason": "r", "grade": ${call}}`);
  const { service } = evalService(() => "fine", { scoring: scoringPorts({ judge }) });
  const { results } = await evaluateWith(
    service,
    evaluateBody({
      rubric: "Be brief.",
      judge_votes: 3,
      test_batch: { id: "s", interactions: [{ id: "1", user_message: "a", reference_reply: "b" }] },
    }),
  );
  assertEquals(asked.length, 3);
  assertStringIncludes(asked[0]!.messages[0]!.content, "Be brief.");
  assertAlmostEquals(results.average_scores.judge!, 0.2, 1e-12);
  assertEquals(results.scenarios[0]!.attempts[0]!.interactions[0]!.judge!.spread, 1);
});

Deno.test("a judge that is down raises no score: overall is open, counted and bounded", async () => {
  const body = evaluateBody({
    test_batch: ["a", "b", "c"].map((id) =>
      scenario(id, [interaction("1", { user_message: id, reference_reply: "fine" })])
    ),
  });
  const answer = async (reply: () => string) => {
    const { judge } = fakeJudge(reply);
    const { service } = evalService(() => "fine", { scoring: scoringPorts({ judge }) });
    return await evaluateWith(service, body);
  };
  const graded = await answer(() => '{"reason": "poor", "grade": 2}');
  assertEquals(graded.message, "Evaluation completed successfully");
  assertAlmostEquals(graded.results.average_scores.overall!, 0.6, 1e-9);
  const down = await answer(() => {
    throw providerError(500);
  });
  assertEquals(down.message, "Evaluation completed: 3 of 3 interactions have no overall score");
  assertEquals(down.results.average_scores.overall, 0);
  const { n, turns, missing, failed } = down.results.statistics.overall!;
  assertEquals([n, turns, missing, failed], [3, 0, 3, 0]);
  assertEquals(down.scored_by, { judge: "fake-judge", embeddings: "meaning/m3" });
});
