import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { ScoringPorts } from "../../../../eval/score/scoring_ports.ts";
import { Comparison } from "../../../../eval/figures/compare_stored.ts";
import type { PlannedScenario } from "../../../../eval/figures/expectations.ts";
import type { LeftOut } from "../../../../eval/figures/comparison.ts";
import { providerError } from "../../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../../fakes/eval_service.ts";
import { memoryStore } from "../../../fakes/memory_store.ts";
import { recordedRun } from "../../../fakes/recorded_run.ts";
import { fakeEmbedder, fakeJudge, scoringPorts } from "../../../fakes/scoring_ports.ts";
import { compareTwo, pairIn } from "../../../fakes/compare_two.ts";

const get = (query: string) => new Request(`http://127.0.0.1:8080/compare?${query}`);

/** Ten scenarios, answered right by the model named "good" and wrong by any other. */
const body = (model_id: string, reply: string) =>
  evaluateBody({
    model_id,
    test_batch: Array.from({ length: 10 }, (_, index) => ({
      id: `s${index}`,
      interactions: [{ id: "t", user_message: `${reply} ${index}`, reference_reply: "right" }],
    })),
  });

const echo = () => evalService((conversation) => conversation.at(-1)!.content.split(" ")[0]!);

Deno.test("two stored runs are compared by their ids", async () => {
  const { service } = echo();
  const { run_id: baseline } = await evaluateWith(service, body("good", "right"));
  const { run_id: candidate } = await evaluateWith(service, body("bad", "wrong"));
  const response = await service(get(`baseline=${baseline}&candidate=${candidate}`));
  assertEquals(response.status, 200);
  const answer = await response.json();
  assertEquals(Comparison.strict().parse(answer), answer);
  const comparison = pairIn(answer);
  assertEquals(comparison.verdict, "regressed");
  assertEquals(comparison.baseline.model_id, "good");
  const { test_name, run_id, model_id, endpoint, attempts, status } = comparison.candidate;
  assertMatch(test_name, /^batch-[0-9a-f]{8}$/);
  assertEquals({ run_id, model_id, endpoint, attempts, status }, {
    run_id: candidate,
    model_id: "bad",
    endpoint: "http://127.0.0.1:9/v1",
    attempts: 1,
    status: "completed",
  });
  assertEquals([answer.best, answer.pairs[0].better], [["good"], "good"]);
  assertEquals(comparison.scores.overall.difference, -1);
});

Deno.test("the answer has one verdict and one p-value; detail=full has the rest", async () => {
  const { service } = echo();
  const { run_id } = await evaluateWith(service, body("good", "right"));
  const query = `baseline=${run_id}&candidate=${run_id}&decide_by=token_f1`;
  const brief = pairIn(await (await service(get(query))).json());
  assertEquals(brief.decided_by, "token_f1");
  assertEquals(Object.keys(brief.scores.token_f1), [
    ...["baseline", "candidate", "difference", "ci95", "p", "scenarios"],
  ]);
  assertEquals(Object.keys(brief.scores.overall), [
    ...["baseline", "candidate", "difference", "ci95", "scenarios"],
  ]);
  assertEquals([brief.method, brief.scores.overall.p], [undefined, undefined]);
  const full = pairIn(await (await service(get(`${query}&detail=full`))).json());
  assertEquals([full.scores.overall.p, full.scores.overall.turns], [1, 10]);
  assertStringIncludes(full.method.test, "sign-flip");
  const wrong = await service(get(`baseline=${run_id}&candidate=${run_id}&decide_by=mood`));
  assertEquals([wrong.status, (await wrong.json()).errors[0].path], [400, "decide_by"]);
});

Deno.test("a comparison needs two runs, and both must exist", async () => {
  const { service } = echo();
  const { run_id } = await evaluateWith(service, body("good", "right"));
  const half = await service(get(`baseline=${run_id}`));
  assertEquals([half.status, (await half.json()).errors[0].path], [400, "runs"]);
  const unknown = await service(get(`baseline=${run_id}&candidate=none`));
  assertEquals(unknown.status, 404);
  assertStringIncludes((await unknown.json()).detail, "cannot find run none");
});

/** Evaluates the same twelve replies with two configurations, and compares both ways. */
async function compareScoring(one: Partial<ScoringPorts>, other: Partial<ScoringPorts>) {
  const store = memoryStore();
  const batch = evaluateBody({
    test_batch: Array.from({ length: 12 }, (_, index) => ({
      id: `s${index}`,
      interactions: [{
        id: "t",
        user_message: `When will parcel ${index} come?`,
        reference_reply: `Your parcel comes on Monday, number ${index}`,
      }],
    })),
  });
  const ids: string[] = [];
  for (const ports of [one, other]) {
    const { service } = evalService(() => "It comes on Monday", {
      store,
      scoring: scoringPorts(ports),
    });
    ids.push((await evaluateWith(service, batch)).run_id);
  }
  const { service } = evalService(undefined, { store });
  const compare = async (baseline: string, candidate: string) =>
    pairIn(await (await service(get(`baseline=${baseline}&candidate=${candidate}`))).json());
  return [await compare(ids[0]!, ids[1]!), await compare(ids[1]!, ids[0]!)];
}

const GRADE = '{"reason": "r", "grade": 2}';
const judgeThat = (answer: (call: number) => string) => ({
  judge: fakeJudge((_, call) => answer(call)).judge,
});
const fail = (): never => {
  throw providerError(500);
};

for (
  const [what, ports] of [
    ["answers 500", judgeThat(fail)],
    ["answers 500 every second time", judgeThat((call) => call % 2 ? GRADE : fail())],
    ["cannot be read", judgeThat(() => "no idea")],
    ["is not configured", {}],
  ] as const
) {
  Deno.test(`byte-identical replies are no improvement and no regression if the judge ${what}`, async () => {
    for (const { verdict } of await compareScoring(judgeThat(() => GRADE), ports)) {
      assertEquals(verdict, "inconclusive");
    }
  });
}

Deno.test("meanings by an embeddings endpoint and by the local encoder are not compared", async () => {
  const { compare: _, ...endpoint } = fakeEmbedder({ method: "endpoint" }).embedder;
  for (const { verdict, scores, left_out } of await compareScoring({ embedder: endpoint }, {})) {
    assertEquals(verdict, "inconclusive");
    assertEquals(scores.semantic_similarity, undefined);
    assertEquals(
      left_out.map((found: LeftOut) => [found.score, found.turns, found.reason]),
      [["semantic_similarity", 12, "other_method"], ["overall", 12, "no_common_part"]],
    );
  }
});

const IDS = Array.from({ length: 6 }, (_, index) => `s${index}`);

/** What a scenario and its only turn expect. */
interface Expected {
  scenario?: Record<string, unknown>;
  turn?: Record<string, unknown>;
}

/** Runs both batches with the same replies, and compares them. */
async function compareBatches(before: Expected, after: Expected) {
  const store = memoryStore();
  const { service } = evalService(undefined, {
    store,
    targetOf: () => ({
      ask: () =>
        Promise.resolve({
          content: "The price is 5 euros",
          usage: null,
          toolCalls: [{ name: "find", args: { id: 5 }, status: "ok" as const, ms: 1 }],
        }),
    }),
  });
  const runs: string[] = [];
  for (const { scenario, turn } of [before, after]) {
    const test_batch = IDS.map((id) => ({
      id,
      ...scenario,
      interactions: [{ id: "t", user_message: `How much is ${id}?`, ...turn }],
    }));
    runs.push((await evaluateWith(service, evaluateBody({ test_batch }))).run_id);
  }
  const read = async (path: string) => await service(new Request(`http://127.0.0.1:8080${path}`));
  const path = `/compare?baseline=${runs[0]}&candidate=${runs[1]}`;
  const text = `/runs/${runs[1]}/export?format=markdown&baseline=${runs[0]}`;
  return { json: pairIn(await (await read(path)).json()), text: await (await read(text)).text() };
}

const named = (fields: Record<string, unknown> = {}) => [
  { type: "contains", name: "states the price", value: "price", ...fields },
];
const schema = (type: string) => ({ type: "object", properties: { price: { type } } });
const tools = (args: Record<string, unknown>) => [{ name: "find", args }];

const CHANGES: [what: string, score: string, before: Expected, after: Expected][] = [
  [
    "the value of a named check",
    "checks",
    { turn: { checks: named() } },
    { turn: { checks: named({ value: "cost" }) } },
  ],
  [
    "the value of a check of the scenario",
    "checks",
    { scenario: { checks: named() } },
    { scenario: { checks: named({ value: "cost" }) } },
  ],
  [
    "the value of a check of the conversation",
    "checks",
    { scenario: { conversation_checks: named() } },
    { scenario: { conversation_checks: named({ value: "cost" }) } },
  ],
  [
    "a check of the turn that is now about the conversation",
    "checks",
    { scenario: { checks: named() } },
    { scenario: { conversation_checks: named() } },
  ],
  [
    "negate",
    "checks",
    { turn: { checks: named() } },
    { turn: { checks: named({ negate: true }) } },
  ],
  [
    "ignore_case",
    "checks",
    { turn: { checks: [{ type: "contains", value: "PRICE", ignore_case: true }] } },
    { turn: { checks: [{ type: "contains", value: "PRICE" }] } },
  ],
  [
    "a JSON Schema",
    "checks",
    { turn: { checks: [{ type: "json", value: schema("string"), negate: true }] } },
    { turn: { checks: [{ type: "json", value: schema("number"), negate: true }] } },
  ],
  [
    "the number of checks",
    "checks",
    { turn: { checks: named() } },
    { turn: { checks: [...named(), { type: "max_chars", value: 5 }] } },
  ],
  [
    "the arguments of a tool call",
    "tools",
    { turn: { reference_tools: tools({ id: 5 }) } },
    { turn: { reference_tools: tools({ id: 6 }) } },
  ],
  [
    "the reference",
    "semantic_similarity",
    { turn: { reference_reply: "The price is 5 euros" } },
    { turn: { reference_reply: "We are closed on Sundays" } },
  ],
];

for (const [what, score, before, after] of CHANGES) {
  Deno.test(`the same replies are no better and no worse if the expectations differ: ${what}`, async () => {
    for (const [one, other] of [[before, after], [after, before]] as const) {
      const { json, text } = await compareBatches(one, other);
      assertEquals(json.verdict, "inconclusive");
      assertEquals(json.scores[score], undefined);
      assertEquals(json.scores.overall?.difference ?? 0, 0);
      const found = json.left_out.find((one: LeftOut) => one.score === score);
      assertEquals(found, { score, turns: 6, reason: "other_expectation", detail: null });
      assertEquals(json.changed, IDS);
      assertStringIncludes(text, `\`${score}\` at 6 turns, the runs do not expect the same there`);
    }
  });
}

const SAME: [what: string, before: Expected, after: Expected][] = [
  [
    "the order of keys",
    { turn: { checks: [{ type: "json", value: { type: "object", required: ["a"] } }] } },
    { turn: { checks: [{ value: { required: ["a"], type: "object" }, type: "json" }] } },
  ],
  [
    "a default that is written down",
    { turn: { checks: named() } },
    { turn: { checks: named({ weight: 1, negate: false, match: "all" }) } },
  ],
  [
    "the name of a check",
    { turn: { checks: named() } },
    { turn: { checks: named({ name: "names the price" }) } },
  ],
  [
    "the order of an argument's keys",
    { turn: { reference_tools: tools({ id: 5, at: { x: 1, y: 2 } }) } },
    { turn: { reference_tools: tools({ at: { y: 2, x: 1 }, id: 5 }) } },
  ],
  [
    "the letter case of a label",
    { turn: { reference_reply: "5 euros", reference_metadata: { act: "inform" } } },
    { turn: { reference_reply: "5 euros", reference_metadata: { act: "Inform" } } },
  ],
];

for (const [what, before, after] of SAME) {
  Deno.test(`scenarios that expect the same are compared whole: ${what} does not matter`, async () => {
    const { json } = await compareBatches(before, after);
    assertEquals([json.left_out, json.changed], [[], []]);
    assertEquals(json.scores.overall.scenarios, 6);
  });
}

Deno.test("a check of similarity to the reference is another check if the reference is", async () => {
  const batch = (reference_reply: string): Expected => ({
    turn: { reference_reply, checks: [{ type: "similar", min: 0.9 }] },
  });
  const { json } = await compareBatches(
    batch("The price is 5 euros"),
    batch("We are closed on Sundays"),
  );
  assertEquals([json.scores, json.verdict], [{}, "inconclusive"]);
});

Deno.test("what is expected alike is compared beside what is not", async () => {
  const batch = (value: string): Expected => ({
    turn: { reference_reply: "It is 5 euros", checks: named({ value }) },
  });
  const { json } = await compareBatches(batch("price"), batch("cost"));
  assertEquals([json.scores.checks, json.scores.overall.difference], [undefined, 0]);
  assertEquals(json.scores.overall.baseline, json.scores.semantic_similarity.baseline);
  assertEquals(json.changed, IDS);
});

for (const method of ["dialogue_act_rules", "same_text"]) {
  Deno.test(`matches of different labels are not compared, found by ${method}`, async () => {
    const run = (act: string, match: number) => ({
      scenarios: IDS.map((id): PlannedScenario => ({
        id,
        interactions: [{
          id: "t",
          user_message: "Bye!",
          reference_metadata: { act, tone: "warm" },
        }],
      })),
      turns: recordedRun(IDS.map((id) => [id, [["t", {
        scores: {
          act_match: match,
          tone_match: 1,
          metadata_match: (match + 1) / 2,
          overall: (match + 1) / 2,
        },
        reference_metadata: { act, tone: "warm" },
        annotation: {
          method,
          confidence: null,
          keys: { act: { method, confidence: null }, tone: { method, confidence: null } },
        },
      }]]])).turns,
    });
    const found = await compareTwo({
      baseline: run("farewell", 1),
      candidate: run("greeting", 0),
    });
    assertEquals(found.left_out.map(({ score, turns, reason }) => [score, turns, reason]), [
      ["act_match", 6, "other_expectation"],
    ]);
    const differences = Object.entries(found.scores).map(([name, score]) => [
      name,
      score.difference,
    ]);
    assertEquals(differences, [["overall", 0], ["tone_match", 0], ["metadata_match", 0]]);
    assertEquals(found.changed, IDS);
  });
}

Deno.test("a failed call counts 0 also where the runs expect different things", async () => {
  const run = (value: string, scores: Record<string, number> | "failed") => ({
    scenarios: IDS.map((id): PlannedScenario => ({
      id,
      interactions: [{
        id: "t",
        user_message: "How much?",
        reference_metadata: {},
        checks: [{ type: "contains", value }],
      }],
    })),
    turns: recordedRun(IDS.map((id) => [id, [["t", scores]]])).turns,
  });
  const { scores, verdict } = await compareTwo({
    baseline: run("price", { checks: 1, overall: 1 }),
    candidate: run("cost", "failed"),
  });
  assertEquals(scores.overall!.difference, -1);
  assertEquals(verdict, "inconclusive"); // failed calls might have had any score
});

Deno.test("runs that are older than checks may have fields of their names", async () => {
  const run = (checks: unknown) => ({
    scenarios: [{
      id: "s",
      checks,
      conversation_checks: [null],
      interactions: [{ id: "t", user_message: "?", reference_tools: "none", checks: ["x", 1] }],
    }] as unknown as PlannedScenario[],
    turns: recordedRun([["s", [["t", 0.5]]]]).turns,
  });
  const { scores } = await compareTwo({ baseline: run("mine"), candidate: run({ of: "mine" }) });
  assertEquals(scores.overall!.difference, 0);
});
