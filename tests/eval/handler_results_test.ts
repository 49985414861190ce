import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { interaction, providerError, scenario } from "../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";

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
  assertEquals(interaction!.score_methods, { semantic_similarity: "minilm+agreement/a3" });
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
  assertEquals(down.results.average_scores.overall, null);
  const { n, turns, missing, failed, bounds } = down.results.statistics.overall!;
  assertEquals([n, turns, missing, failed], [3, 0, 3, 0]);
  assertEquals(bounds, [0.5, 1]);
  assertEquals(down.scored_by, { judge: "fake-judge", embeddings: "bag_of_words/c2-a3" });
});
