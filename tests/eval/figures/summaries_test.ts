import { assertEquals, assertStringIncludes } from "@std/assert";
import { addCosts, createCostSum } from "../../../eval/figures/summary/turn_counts.ts";
import { createLabelCounter } from "../../../eval/figures/summary/labels.ts";
import { runNotes } from "../../../eval/figures/summary/notes.ts";
import { createSummaries } from "../../../eval/figures/summaries.ts";
import { createTotals, summariseRun } from "../../../eval/figures/summary/summary.ts";
import type { AttemptResult } from "../../../eval/test/evaluate_response.ts";
import type { InteractionResult } from "../../../eval/test/interaction_result.ts";
import { interaction, scenario } from "../../fakes/eval_ports.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";
import {
  summariseAttempt,
  summariseScenario,
  summariseScenarios,
} from "../../fakes/whole_results.ts";

Deno.test("a run that ends while it is being summarised is summarised again, with all its turns", async () => {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 2 });
  const { id } = await store.createRun({ request, testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  const gate = Promise.withResolvers<void>();
  const isRead = Promise.withResolvers<void>();
  let reads = 0;
  const summaries = createSummaries({
    ...store,
    async *turnPages(runId) {
      const pages = await Array.fromAsync(store.turnPages(runId));
      if (reads++ === 0) {
        isRead.resolve();
        await gate.promise;
      }
      yield* pages;
    },
  });
  const early = summaries.summary((await store.getRun(id))!);
  await isRead.promise;
  await store.recordTurn(id, storedTurn([0, 0, 1]));
  await store.setStatus(id, { status: "completed" });
  const late = summaries.summary((await store.getRun(id))!);
  gate.resolve();
  assertEquals([(await early).outcomes.passed, (await late).outcomes.passed], [1, 2]);
});

Deno.test("a run is read once for the headlines of all lists that wait for it", async () => {
  const store = memoryStore();
  const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  await store.setStatus(id, { status: "completed" });
  const record = (await store.getRecord(id))!;
  const gate = Promise.withResolvers<void>();
  let reads = 0;
  const summaries = createSummaries({
    ...store,
    async getRun(id) {
      reads++;
      await gate.promise;
      return await store.getRun(id);
    },
  }, { patienceMs: 0 });
  const empty = await Promise.all([summaries.headlines([record]), summaries.headlines([record])]);
  assertEquals(empty.map(({ size }) => size), [0, 0]);
  assertEquals(reads, 1);
  gate.resolve();
  await summaries.summary((await store.getRun(id))!);
  assertEquals((await summaries.headlines([record])).get(id)?.outcomes.passed, 1);
});

Deno.test("a run that lacks a turn is read once for lists, and again after a new end", async () => {
  const store = memoryStore();
  const request = evaluateRequest({ turns: 2 });
  const { id } = await store.createRun({ request, testName: "t" });
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  const tally = { done: 2, failed: 0, missing: 0, scored: 2, mean: 1, lastSeq: 2 };
  await store.setStatus(id, { status: "completed", tally });
  let reads = 0;
  const summaries = createSummaries({
    ...store,
    getRun(id) {
      reads++;
      return store.getRun(id);
    },
  });
  const record = (await store.getRecord(id))!;
  assertEquals((await summaries.headlines([record])).size, 0);
  assertEquals((await summaries.headlines([record])).size, 0);
  assertEquals(reads, 1);
  await summaries.headlines([{ ...record, finishedAt: record.finishedAt! + 1 }]);
  assertEquals(reads, 2);
});

Deno.test("a scenario with a turn that cannot pass is below the threshold, whatever its mean", async () => {
  const store = memoryStore();
  const { id } = await store.createRun({
    request: evaluateRequest({ scenarios: 3 }),
    testName: "t",
  });
  const check_results = [{
    name: "c",
    type: "regex",
    weight: 1,
    required: true,
    value: 0 as const,
  }];
  await store.recordTurn(id, storedTurn([0, 0, 0], { scores: { overall: 1 }, check_results }));
  await store.recordTurn(id, storedTurn([1, 0, 0], { scores: { overall: 1, tools: 0 } }));
  await store.recordTurn(id, storedTurn([2, 0, 0], { scores: { overall: 1 } }));
  const { scenarios } = await createSummaries(store).summary((await store.getRun(id))!);
  assertEquals([scenarios.passed, scenarios.failed], [1, 2]);
});

Deno.test("a scenario of which no score is known does not pass, however good it may be", async () => {
  const store = memoryStore();
  const { id } = await store.createRun({
    request: evaluateRequest({ scenarios: 3 }),
    testName: "t",
  });
  const check = { name: "c", type: "judge", weight: 1, reason: "judge_unavailable" };
  const open = {
    scores: { overall: null },
    missing_scores: { checks: "c", overall: "without checks" },
    overall_bounds: [0.9, 1] as [number, number],
  };
  const checked = (required: boolean) => ({
    ...open,
    check_results: [{ ...check, required, value: null }],
  });
  await store.recordTurn(id, storedTurn([0, 0, 0], checked(true)));
  await store.recordTurn(id, storedTurn([1, 0, 0], checked(false)));
  await store.recordTurn(
    id,
    storedTurn([2, 0, 0], { ...open, missing_scores: { tools: "not reported", overall: "" } }),
  );
  const { scenarios, pass_rate } = await createSummaries(store).summary((await store.getRun(id))!);
  assertEquals([scenarios.passed, scenarios.unscored, pass_rate?.mean], [0, 3, 0]);
});

Deno.test("an attempt's average counts its failed turns as 0, and its time is that of its turns", () => {
  const attempt = summariseAttempt(2, [
    storedTurn([0, 2, 0], { scores: { overall: 1 } }),
    storedTurn([0, 2, 1], { scores: { overall: 0 }, error: failure }),
  ]);
  assertEquals(attempt.attempt_id, 3);
  assertEquals(attempt.average_scores, { overall: 0.5 });
  assertEquals(attempt.execution_time_ms, 14);
});

Deno.test("a scenario counts its attempts alike, and a run its scenarios", async () => {
  const attempt = (overall: number) =>
    summariseAttempt(0, [storedTurn([0, 0, 0], { scores: { overall } })]);
  const one = await summariseScenario(scenario("one", [interaction("i")]), [
    attempt(1),
    attempt(0),
  ]);
  const two = await summariseScenario(scenario("two", [interaction("i")]), [attempt(1)]);
  assertEquals([one.scenario_id, one.average_scores], ["one", { overall: 0.5 }]);
  const { average_scores, statistics } = await summariseScenarios([one, two]);
  assertEquals(average_scores, { overall: 0.75 });
  // Two scenarios, 0.5 and 1: s = 0.354, and a standard error of 0.25.
  assertEquals([statistics.overall!.n, statistics.overall!.stderr], [2, 0.25]);
});

Deno.test("a run counts what is missing, by which methods it was scored and in what replies differ", async () => {
  const turns = [
    { score_methods: { semantic_similarity: "a" }, differs_in: ["number"] },
    { score_methods: { semantic_similarity: "b" }, differs_in: ["number", "date"] },
    { missing_scores: { judge: "judge_unavailable", overall: "without judge" } },
    { missing_scores: { judge: "judge_unavailable", overall: "without judge" } },
    { missing_scores: { judge: "judge_unreadable", overall: "without judge" } },
  ];
  const totals = createTotals();
  turns.forEach(totals.addTurn);
  const { missing_scores, score_methods, differs_in } = await totals.close();
  assertEquals(missing_scores, [
    { score: "overall", reason: "without judge", turns: 3 },
    { score: "judge", reason: "judge_unavailable", turns: 2 },
    { score: "judge", reason: "judge_unreadable", turns: 1 },
  ]);
  assertEquals(score_methods, { semantic_similarity: { a: 1, b: 1 } });
  assertEquals(differs_in, { number: 2, date: 1 });
});

Deno.test("a caller's own fields come back, and cannot replace ours", () => {
  const request = evaluateRequest({
    ...{ ticket: "T-1", message: "mine", run_id: "mine", results: "mine" },
  });
  const heading = summariseRun(request, {
    runId: "r",
    testName: "t",
    done: 4,
    failed: 1,
    missing: 0,
  });
  assertEquals(
    heading,
    {
      message: "Evaluation completed: 1 of 4 interactions failed",
      run_id: "r",
      test_name: "t",
      notes: [],
      endpoint: "http://127.0.0.1:9/v1",
      model_id: "a/model",
      ticket: "T-1",
    } as typeof heading,
  );
});

const sum = (amount: number | null, currency: string | null, turns: number, unknown = 0) => ({
  amount,
  currency,
  turns,
  unknown,
});

Deno.test("the cost of a group is the sum of its models' costs, and unknown costs are counted", () => {
  assertEquals(addCosts([sum(1, "USD", 4), sum(0.5, "USD", 3, 1)]), sum(1.5, "USD", 7, 1));
  assertEquals(addCosts([sum(null, null, 0, 4), sum(2, "USD", 4)]), sum(2, "USD", 4, 4));
  assertEquals(addCosts([sum(null, null, 0, 4)]), sum(null, null, 0, 4));
});

Deno.test("another currency is not added but counted as unknown, and without prices there is no sum", () => {
  assertEquals(addCosts([sum(1, "USD", 4), sum(5, "EUR", 3)]), sum(1, "USD", 4, 3));
  assertEquals(addCosts([undefined, undefined]), undefined);
});

Deno.test("a sum of costs has no digits that adding up has left", () => {
  const costs = createCostSum();
  for (const amount of [0.1, 0.2]) costs.add({ amount, currency: "USD" });
  assertEquals(costs.report("cost").cost, sum(0.3, "USD", 2));
  assertEquals(addCosts([sum(0.1, "USD", 1), sum(0.2, "USD", 1)]), sum(0.3, "USD", 2));
});

const bare = interaction("1", { reference_reply: "Yes." });
const labelled = interaction("2", {
  reference_reply: "No.",
  reference_metadata: { intent: "refusal" },
});
const free = interaction("3"); // without a reference nothing is compared
const notes = (turns: typeof bare[], hasJudge = false) =>
  runNotes({ test_batch: [scenario("s", turns)] }, { hasJudge });

Deno.test("a run with neither judge nor labels has a note that similarity alone decides", () => {
  const [note, ...others] = notes([bare, free]);
  assertEquals([note?.code, others], ["similarity_alone", []]);
  assertStringIncludes(note!.detail, "overall of every turn is semantic_similarity alone");
  assertStringIncludes(note!.detail, "a small model");
});

Deno.test("a run that asks an agent has a note that system prompts were not sent", () => {
  const own = { ...scenario("s", [free]), system_prompt: "Be brief." };
  const test_batch = [own, scenario("t", [free])];
  const [note] = runNotes({ test_batch, protocol: "agent" }, { hasJudge: true });
  assertEquals(note?.code, "system_prompts_not_sent");
  assertStringIncludes(note!.detail, "1 of 2 scenarios");
  assertEquals(runNotes({ test_batch, protocol: "openai" }, { hasJudge: true }), []);
});

Deno.test("only the turns without labels are counted", () => {
  assertStringIncludes(notes([bare, labelled, free])[0]!.detail, "1 of 2 turns");
});

Deno.test("a judge, labels on every turn or no reference at all need no note", () => {
  assertEquals(notes([bare], true), []);
  assertEquals(notes([labelled, free]), []);
  assertEquals(notes([free]), []);
  assertEquals(notes([interaction("4", { reference_reply: "" })]), []);
});

function turn(expected: unknown, found: unknown, failed = false): InteractionResult {
  return {
    ...interaction("t", { reference_metadata: { intent: expected } }),
    reference_reply: "",
    generated_metadata: found === undefined ? {} : { intent: found },
    scores: {},
    latency_ms: 0,
    usage: null,
    ...(failed && { error: { code: "provider_error", status: 500, detail: "" } }),
  };
}

/** The labels of some scenarios, each from the turns of its attempts. */
function report(...scenarios: InteractionResult[][][]) {
  const counter = createLabelCounter();
  for (const attempts of scenarios) counter.add(attempts.map(toAttempt));
  return counter.report();
}

function toAttempt(interactions: InteractionResult[]): AttemptResult {
  return { attempt_id: 1, interactions, average_scores: {}, statistics: {}, execution_time_ms: 0 };
}

Deno.test("a confusion matrix counts the labels found for each expected one, over all attempts", () => {
  const labels = report([
    [turn("greet", "Greet "), turn("thank", "greet")],
    [turn("greet", "greet"), turn("thank", undefined)],
    [turn("greet", "thank"), turn("thank", undefined, true)],
  ]);
  assertEquals(labels.intent!.confusion, {
    greet: { greet: 2, thank: 1 },
    thank: { greet: 1, "(none)": 1, "(failed)": 1 },
  });
});

Deno.test("the flip rate is the share of pairs of attempts that disagree, computed by hand", () => {
  // Turn 1: greet, greet, thank: 2 of 3 pairs differ. Turn 2: greet, none: 1 of 1. 3 of 4.
  const labels = report([
    [turn("greet", "greet"), turn("thank", "greet")],
    [turn("greet", "greet"), turn("thank", undefined)],
    [turn("greet", "thank"), turn("thank", undefined, true)],
  ]);
  assertEquals(labels.intent!.flip_rate, 0.75);
});

Deno.test("one attempt has nothing to flip", () => {
  assertEquals(report([[turn("greet", "greet")]]).intent!.flip_rate, null);
});

Deno.test("a label may have the name of a built-in property", () => {
  const { confusion } = report([[turn("constructor", "__proto__")]]).intent!;
  assertEquals(Object.entries(confusion.constructor!), [["__proto__", 1]]);
});

Deno.test("the labels of a run are those of its scenarios together", () => {
  const labels = report(
    [[turn("greet", "greet")], [turn("greet", "thank")]],
    [[turn("thank", "thank")], [turn("thank", "thank")]],
  );
  assertEquals(labels.intent!.confusion, { greet: { greet: 1, thank: 1 }, thank: { thank: 2 } });
  assertEquals(labels.intent!.flip_rate, 0.5);
});

Deno.test("an attempt that lacks its last turns has no say about them", () => {
  const labels = report([[turn("greet", "greet"), turn("thank", "thank")], [
    turn("greet", "greet"),
  ]]);
  assertEquals(labels.intent!.confusion, { greet: { greet: 2 }, thank: { thank: 1 } });
  assertEquals(labels.intent!.flip_rate, 0);
});

Deno.test("labels that match share a name, however they are written", () => {
  const numbers = report([[turn("5.0", 5)], [turn(5, "5")]]);
  assertEquals(numbers.intent!.confusion, { 5: { 5: 2 } });
  assertEquals(numbers.intent!.flip_rate, 0);
  const composed = report([[turn("caf\u00e9", "cafe\u0301")]]);
  assertEquals(composed.intent!.confusion, { "caf\u00e9": { "caf\u00e9": 1 } });
});

Deno.test("a key with the name of a built-in property is not found by accident", () => {
  const one = { ...turn("x", undefined), reference_metadata: { constructor: "x" } };
  assertEquals(report([[one]]).constructor as unknown, {
    confusion: { x: { "(none)": 1 } },
    flip_rate: null,
    counts: 1,
    of: 1,
  });
});

Deno.test("the report has the self-check of a key, which the turns carry", () => {
  const check = { right: 3, of: 4, accuracy: 0.75, floor: 0.75 };
  const note = { method: "few_shot", confidence: 0.9 };
  const keys = { intent: { ...note, self_check: check } };
  const told = { ...turn("greet", "greet"), annotation: { ...note, keys } };
  const failed = turn("greet", undefined, true);
  const labels = report([[failed, told]], [[turn("greet", "greet")]]);
  assertEquals(labels.intent!.self_check, check);
  assertEquals("self_check" in report([[failed]]).intent!, false);
});
