import { assertEquals, assertStringIncludes } from "@std/assert";
import { compareRuns } from "../../../eval/compare/compare.ts";
import type { PlannedScenario } from "../../../eval/compare/expectations.ts";
import type { LeftOut } from "../../../eval/compare/left_out.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { recordedRun } from "../../fakes/recorded_run.ts";

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
  const path = `/runs/compare?baseline=${runs[0]}&candidate=${runs[1]}`;
  const text = `/runs/${runs[1]}/export?format=markdown&baseline=${runs[0]}`;
  return { json: await (await read(path)).json(), text: await (await read(text)).text() };
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
    const found = await compareRuns({
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
  const { scores, verdict } = await compareRuns({
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
  const { scores } = await compareRuns({ baseline: run("mine"), candidate: run({ of: "mine" }) });
  assertEquals(scores.overall!.difference, 0);
});
