import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { createAssessor } from "../../../eval/score/assessor.ts";
import { isForEncoder, referenceOf, referencesOf } from "../../../eval/score/references.ts";
import type { ScoreInput, Scorer } from "../../../eval/score/scores/scorer.ts";
import { scorers } from "../../../eval/score/scorers.ts";
import { EvalConfig } from "../../../eval/config.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { parseConfig } from "../../../shared/service/config.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { assess, assessor, BATCH, delivery, refund } from "../../fakes/assessed_batch.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
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
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";

Deno.test("a reply gets the intent of the reference it is nearest to", async () => {
  const { generatedMetadata, scores } = await assess(BATCH[0]!, "We refund it to your card.");
  assertEquals(generatedMetadata, { intent: "refund" });
  assertEquals(scores.intent_match, 1);
});

Deno.test("a reply of another intent does not match", async () => {
  const { generatedMetadata, scores } = await assess(BATCH[0]!, "The parcel arrives soon.");
  assertEquals(generatedMetadata, { intent: "delivery" });
  assertEquals(scores.intent_match, 0);
});

Deno.test("a model that repeats every reference matches every label", async () => {
  // Each resembles the references of the other label more than the other one of its own.
  const crossed = [
    refund("r1", "Your card was charged on Monday"),
    refund("r2", "The parcel arrives by noon"),
    delivery("d1", "Your card was sent on Monday"),
    delivery("d2", "The parcel is paid by noon"),
  ];
  for (const subject of crossed) {
    const { scores } = await assess(subject, subject.reference_reply!, crossed);
    assertEquals([scores.intent_match, scores.metadata_match], [1, 1], subject.id);
  }
});

Deno.test("a reply that is near no label has none, and matches none", async () => {
  const { generatedMetadata, scores, annotation } = await assess(BATCH[0]!, "Bananas grow slowly.");
  assertEquals(generatedMetadata, {});
  assertEquals([scores.intent_match, scores.metadata_match], [0, 0]);
  const { method, confidence, reason } = annotation!.keys.intent!;
  assertEquals([method, confidence, reason], ["few_shot", null, "no label is near enough"]);
});

Deno.test("labels match without regard to case and blanks", async () => {
  const subject = interaction("1", { reference_metadata: { intent: " Refund" } });
  const { scores } = await assess(subject, "We refund it to your card.", [subject, ...BATCH]);
  assertEquals(scores.intent_match, 1);
});

Deno.test("a blank reply matches no label", async () => {
  const { scores } = await assess(BATCH[0]!, "  ");
  assertEquals([scores.intent_match, scores.metadata_match], [0, 0]);
});

Deno.test("overall is the mean of meaning and metadata, and of nothing else", async () => {
  const { scores } = await assess(BATCH[0]!, "The parcel arrives soon.");
  assertEquals(scores.intent_match, 0);
  assertAlmostEquals(scores.overall!, (scores.semantic_similarity! + 0) / 2, 1e-12);
});

Deno.test("a key that cannot be labelled in this batch is no part of metadata_match", async () => {
  const subject = interaction("1", {
    reference_reply: "Your money is on its way.",
    reference_metadata: { intent: "refund", channel: "mail" },
  });
  const batch = [subject, ...BATCH];
  const { scores, missing_scores } = await assess(subject, "We refund it to your card.", batch);
  assertEquals([scores.intent_match, scores.channel_match, scores.metadata_match], [1, null, 1]);
  assertEquals(missing_scores, undefined);
});

Deno.test("a judge is the third part of overall", async () => {
  const subject = interaction("1", { reference_reply: "Great, thanks!" });
  const { judge } = fakeJudge(() => '{"reason": "half right", "grade": 5}');
  const result = await assessor([subject], { judge }).assess(subject, "Great, thanks!");
  assertEquals(result.scores.judge, 0.5);
  assertAlmostEquals(result.scores.overall!, 0.75, 1e-6);
  assertEquals([result.judge?.grade, result.judge?.reason], [5, "half right"]);
});

Deno.test("without a verdict overall is missing", async () => {
  const subject = interaction("1", { reference_reply: "Great, thanks!" });
  const { judge } = fakeJudge(() => "I liked it.");
  const result = await assessor([subject], { judge }).assess(subject, "Great, thanks!");
  assertEquals([result.scores.judge, result.judge?.error], [null, "judge_unreadable"]);
  assertEquals(result.scores.overall, null);
  assertEquals(result.missing_scores, { judge: "judge_unreadable", overall: "without judge" });
});

Deno.test("a reply that is near but says another number is flagged, and a right one is not", async () => {
  const subject = interaction("1", { reference_reply: "Your parcel arrives in 3 days." });
  const [wrong, right] = await Promise.all(
    ["Your parcel arrives in 5 days.", "Your parcel arrives in three days."]
      .map((reply) => assess(subject, reply, [subject])),
  );
  assertEquals([wrong!.differs_in, right!.differs_in], [["duration"], undefined]);
});

Deno.test("a complete turn says nothing of missing scores", async () => {
  const result = await assess(BATCH[0]!, "We refund it to your card.");
  assertEquals(result.missing_scores, undefined);
});

Deno.test("a run resumed with another configuration misses what it was planned with", async () => {
  const subject = interaction("1", { reference_reply: "Great, thanks!" });
  const { judge } = fakeJudge(() => '{"reason": "fine", "grade": 5}');
  const batch = { test_batch: [scenario("s", [subject])], rubric: undefined, judge_votes: 1 };
  const signal = new AbortController().signal;
  const cases: [string, Record<string, unknown>, string[]][] = [
    ["the judge is gone", { judge: "gone-judge", embeddings: "meaning/m3" }, ["judge"]],
    ["so is the embedder", { judge: null, embeddings: "other" }, ["semantic_similarity"]],
    ["its calibration is another", { judge: null, embeddings: "meaning/m0" }, [
      "semantic_similarity",
    ]],
    ["both are there", { judge: "fake-judge", embeddings: "meaning/m3" }, []],
  ];
  for (const [why, scored_by, lacking] of cases) {
    const { assess } = createAssessor({ ...batch, scored_by }, {
      ports: scoringPorts({ judge }),
      signal,
    });
    const { scores, missing_scores } = await assess(subject, "Great, thanks!");
    const missing = Object.keys(missing_scores ?? {}).filter((name) => name !== "overall");
    assertEquals(missing, lacking, why);
    assertEquals(scores.overall === null, lacking.length > 0, why);
    assertEquals("judge" in scores, scored_by.judge !== null, why);
  }
});

Deno.test("a reply that could not be assessed misses every score that it should have", async () => {
  const { judge } = fakeJudge(() => "");
  const { unscored, failed } = assessor(BATCH, { judge });
  const { scores, missing_scores } = unscored(BATCH[0]!, "the worker died");
  assertEquals(Object.keys(scores), Object.keys(await failed(BATCH[0]!)));
  assertEquals(new Set(Object.values(scores)), new Set([null]));
  const { overall, ...parts } = missing_scores!;
  assertEquals(new Set(Object.keys(parts)), new Set(Object.keys(scores).slice(0, -1)));
  assertEquals(new Set(Object.values(parts)), new Set(["the worker died"]));
  assertEquals(overall, "without semantic_similarity, metadata_match, judge");
  assertEquals(unscored(interaction("bare"), "the worker died").missing_scores, undefined);
});

Deno.test("without a reference there is no score that needs one", async () => {
  const { scores, score_methods } = await assess(interaction("1"), "anything");
  assertEquals(new Set(Object.values(scores)), new Set([null]));
  assertEquals(score_methods, undefined);
});

Deno.test("an empty reference is none, for every score and for the judge", async () => {
  const subject = interaction("1", { reference_reply: "" });
  const { judge, asked } = fakeJudge(() => '{"reason": "no", "grade": 0}');
  const { assess, failed } = assessor([subject], { judge });
  for (const reply of ["", "words"]) {
    const { scores, judge } = await assess(subject, reply);
    assertEquals(new Set(Object.values(scores)), new Set([null]), `"${reply}"`);
    assertEquals(judge, undefined);
  }
  assertEquals(asked, []);
  assertEquals((await failed(subject)).semantic_similarity, null);
});

Deno.test("a failed turn counts 0 in every score that it would have had", async () => {
  const failed = await assessor().failed(BATCH[0]!);
  assertEquals(new Set(Object.values(failed)), new Set([0]));
  assertEquals(Object.keys(failed).includes("semantic_similarity"), true);
  const { overall, ...others } = await assessor().failed(interaction("bare"));
  assertEquals(overall, 0);
  assertEquals(new Set(Object.values(others)), new Set([null]));
});

Deno.test("a failed turn has no match for a key that does not count in this batch", async () => {
  const subject = interaction("1", {
    reference_reply: "Your money is on its way.",
    reference_metadata: { intent: "refund", channel: "mail" },
  });
  const { failed, assess } = assessor([subject, ...BATCH]);
  const answered = await assess(subject, "We refund it to your card.");
  assertEquals(answered.scores.channel_match, null);
  const scores = await failed(subject);
  assertEquals([scores.intent_match, scores.channel_match, scores.metadata_match], [0, null, 0]);
});

Deno.test("a failed turn has the same score names as an answered one", async () => {
  const { judge } = fakeJudge(() => '{"reason": "", "grade": 5}');
  for (const subject of [...BATCH, interaction("bare")]) {
    const { assess, failed } = assessor(BATCH, { judge });
    const { scores } = await assess(subject, "We refund it.");
    assertEquals(Object.keys(await failed(subject)), Object.keys(scores));
  }
});

Deno.test("a metadata key called exact does not replace exact_match", async () => {
  const labelled = (id: string, reference_reply: string, exact: string) =>
    interaction(id, { reference_reply, reference_metadata: { exact } });
  const subject = labelled("1", "We refund it.", "refund");
  const batch = [subject, labelled("2", "Your parcel arrives.", "delivery")];
  const { scores } = await assess(subject, "We refund it all.", batch);
  assertEquals([scores.exact_match, scores.metadata_match], [0, 1]);
  const bare = interaction("bare", { reference_metadata: { exact: "refund" } });
  const failed = await assessor([...batch, bare]).failed(bare);
  assertEquals([failed.exact_match, failed.metadata_match], [null, 0]);
});

Deno.test("a score of the latency and of the conversation is an object in the table", async () => {
  const manners: Scorer = {
    describe: () => [],
    forBatch: () => ({
      plan: () => ({ is_quick: true, thanks_match: true }),
      score: ({ latencyMs, conversation }: ScoreInput) => ({
        scores: {
          is_quick: { value: Number(latencyMs! < 100) },
          thanks_match: {
            value: Number(conversation().some(({ content }) => content === "thanks")),
          },
        },
      }),
    }),
  };
  const subject = interaction("1", { reference_metadata: { thanks: "yes" } });
  const { assess, failed, unscored } = createAssessor({
    test_batch: [scenario("s", [subject])],
    rubric: undefined,
    judge_votes: 1,
  }, {
    ports: scoringPorts(),
    signal: new AbortController().signal,
    scorers: [...scorers, manners],
  });
  const conversation = () => [{ role: "user" as const, content: "thanks" }];
  const quick = await assess(subject, "Fine.", { latencyMs: 5, conversation });
  const slow = await assess(subject, "Fine.", { latencyMs: 500 });
  assertEquals([quick.scores.is_quick, slow.scores.is_quick], [1, 0]);
  // The caller's key "thanks" does not replace the scorer's name.
  assertEquals([quick.scores.thanks_match, slow.scores.thanks_match], [1, 0]);
  assertEquals((await failed(subject)).is_quick, 0);
  assertEquals(unscored(subject, "gone").missing_scores?.is_quick, "gone");
});

Deno.test("the first reference says whether a batch is one for the encoder", () => {
  const cases: [string[], boolean][] = [
    [["The parcel is here."], true],
    [["", "The parcel is here."], true],
    [["", ""], false],
    [["42"], false],
    [["您的订单已经发货。"], true],
  ];
  for (const [references, expected] of cases) {
    const interactions = references.map((reference_reply, i) =>
      interaction(`${i}`, { reference_reply })
    );
    assertEquals(isForEncoder([scenario("s", interactions)]), expected, `${references}`);
  }
});

Deno.test("a reply may match any of several references, and each score is its nearest one's", async () => {
  const turn = interaction("1", {
    reference_reply: "Paris",
    reference_replies: ["Paris", "The city of light", "42"],
  });
  const assessor = createAssessor({ test_batch: [scenario("s", [turn])] }, {
    ports: scoringPorts(),
    signal: AbortSignal.timeout(10_000),
  });
  for (const reply of ["Paris", "The city of light", "The answer is 42."]) {
    const { scores } = await assessor.assess(turn, reply);
    assertEquals(scores.semantic_similarity, 1, reply);
  }
  const { scores } = await assessor.assess(turn, "London");
  assertEquals([scores.exact_match, scores.semantic_similarity! < 0.7], [0, true]);
});

Deno.test("references may be a list alone, and its first one is the result's reference", () => {
  const turn = interaction("1", { reference_replies: ["", "yes", "sure"] });
  assertEquals(referencesOf(turn), ["yes", "sure"]);
  assertEquals(referenceOf(turn), "yes");
});

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
  [
    "is down",
    errorStatus(500),
    'cannot get a score from the scorer "politeness": it answered status 500',
  ],
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
