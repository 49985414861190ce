import { assert, assertAlmostEquals, assertEquals, assertObjectMatch } from "@std/assert";
import {
  countPasses,
  outcomeOf,
  passRates,
  reaches,
  standingOf,
} from "../../../eval/figures/passing.ts";
import { writeResult } from "../../../eval/figures/run_result.ts";
import { summariseTurns } from "../../../eval/figures/run_summary.ts";
import { summariseRun } from "../../../eval/figures/summary/summary.ts";
import type { StoredRun } from "../../../eval/store/run_record.ts";
import type { StoredTurn } from "../../../eval/store/turn_record.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { textOf } from "../../fakes/stored_run.ts";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";
import {
  runPassRates,
  summariseAttempt,
  summariseScenario,
  summariseScenarios,
} from "../../fakes/whole_results.ts";

/** The answer computed as a whole. */
async function writeWhole(run: StoredRun, turns: StoredTurn[]): Promise<string> {
  const { request } = run;
  const failed = turns.filter(({ result }) => result.error).length;
  const byScenario = [...Map.groupBy(turns, ({ scenario }) => scenario)];
  const scenarios = await Promise.all(byScenario.map(([index, turns]) => {
    const attempts = [...Map.groupBy(turns, ({ attempt }) => attempt)]
      .map(([attempt, turns]) => summariseAttempt(attempt, turns));
    return summariseScenario(request.test_batch[index]!, attempts, request.pass_threshold);
  }));
  const heading = summariseRun(request, {
    runId: run.id,
    testName: run.testName,
    done: turns.length,
    failed,
    missing: 0,
  });
  const results = { scenarios, ...await summariseScenarios(scenarios) };
  return JSON.stringify({ ...heading, results });
}

async function storeTurns(turns: StoredTurn[], request = evaluateRequest({ scenarios: 3 })) {
  const store = memoryStore();
  const { id } = await store.createRun({ request, testName: "t" });
  for (const turn of turns) await store.recordTurn(id, turn);
  return { store, run: (await store.getRun(id))! };
}

Deno.test("the pieces of an answer together are its JSON, to the last character", async () => {
  const turns = [
    storedTurn([0, 0, 0], {
      scores: { overall: 1 / 3, "10": null },
      ...{ 7: 'own "field" \u2028' },
    }),
    storedTurn([0, 0, 1], { scores: { overall: 0 }, error: failure }),
    storedTurn([0, 3, 0], { reference_metadata: { intent: "a" }, generated_metadata: {} }),
    // The second scenario was never reached.
    storedTurn([2, 0, 0], { scores: { overall: 1e-7, ...JSON.parse('{"__proto__":0.5}') } }),
  ];
  const { store, run } = await storeTurns(turns);
  assertEquals(
    await textOf(writeResult(store, run, { detail: "full" })),
    await writeWhole(run, turns),
  );
});

Deno.test("a scenario's own fields are in the answer, and cannot replace ours", async () => {
  const request = evaluateRequest();
  const names = '{"attempts":"mine","labels":1,"2":"two","__proto__":{"a":1},"interactions_":[]}';
  request.test_batch[0] = { ...JSON.parse(names), ...request.test_batch[0] };
  const turns = [storedTurn([0, 0, 0]), storedTurn([0, 1, 0])];
  const { store, run } = await storeTurns(turns, request);
  const text = await textOf(writeResult(store, run, { detail: "full" }));
  assertEquals(JSON.parse(text), JSON.parse(await writeWhole(run, turns)));
  assertEquals(text.match(/"(attempts|labels|__proto__|scenario_id)":/g)?.length, 5);
});

Deno.test("a run without a turn has an answer without a scenario", async () => {
  const { store, run } = await storeTurns([]);
  assertEquals(JSON.parse(await textOf(writeResult(store, run))).results.scenarios, []);
});

Deno.test("a run's summary has the averages and the pass rates of its answer", async () => {
  const turns = [[0, 0, 0.9], [0, 1, 0.2], [0, 2, 0.8], [2, 0, 0.1]].map((
    [scenario, attempt, overall],
  ) => storedTurn([scenario!, attempt!, 0], { scores: { overall: overall!, bleu: 0.5 } }));
  const { store, run } = await storeTurns(turns);
  const { results } = JSON.parse(await textOf(writeResult(store, run)));
  const { average_scores, statistics, pass_rate, pass_at_k, pass_hat_k } = results;
  assertAlmostEquals(pass_at_k["1"].mean, 1 / 3); // two of three attempts, and none of one
  assertObjectMatch(
    await summariseTurns(store, run),
    { average_scores, statistics, pass_rate, pass_at_k, pass_hat_k },
  );
});

Deno.test("a mean that lost its last digit to rounding reaches the threshold", () => {
  const mean = (0.7 + 0.7 + 0.7) / 3;
  assert(mean < 0.7, "else this test shows nothing");
  assert(reaches(mean, 0.7));
});

Deno.test("what is below by more than rounding does not reach the threshold", () => {
  assert(!reaches(0.7 - 1e-9, 0.7));
  assert(!reaches(0, 0.1));
});

/** The rates of attempts of one turn each. */
const ratesOf = (overall: (number | null)[], threshold = 0.7) =>
  passRates(
    countPasses(
      overall.map((value) => standingOf([outcomeOf({ scores: { overall: value } }, threshold)])),
    ),
    threshold,
  );

Deno.test("three of five attempts pass: the unbiased estimators, computed by hand", () => {
  const { pass_rate, pass_at_k, pass_hat_k } = ratesOf([0.9, 0.7, 0.69, 0.1, 1]);
  assertAlmostEquals(pass_rate!, 0.6, 1e-12);
  // k = 2: C(2,2)/C(5,2) = 1/10 of the pairs hold no pass, C(3,2)/C(5,2) = 3/10 hold two.
  const expected: [k: number, at: number, hat: number][] = [
    [1, 0.6, 0.6],
    [2, 0.9, 0.3],
    [3, 1, 0.1],
    [4, 1, 0],
    [5, 1, 0],
  ];
  for (const [k, at, hat] of expected) {
    assertAlmostEquals(pass_at_k[k]!, at, 1e-12);
    assertAlmostEquals(pass_hat_k[k]!, hat, 1e-12);
  }
  assertEquals(Object.keys(pass_at_k), ["1", "2", "3", "4", "5"]);
});

Deno.test("an attempt passes if all its turns do, and has no standing without a score", () => {
  assertEquals(standingOf(["passed", "unscored"]), "passed");
  for (const outcome of ["below", "failed", "missing"] as const) {
    assertEquals(standingOf(["passed", outcome]), "failed", outcome);
  }
  assertEquals([standingOf(["unscored"]), standingOf([])], ["unscored", "unscored"]);
});

Deno.test("a thousand attempts overflow nothing", () => {
  const { pass_at_k, pass_hat_k } = ratesOf(new Array(1000).fill(1));
  assertEquals([pass_at_k[1000], pass_hat_k[1000]], [1, 1]);
});

Deno.test("an attempt without an overall does not take part", () => {
  assertEquals(ratesOf([null, 1]).pass_rate, 1);
  assertEquals(ratesOf([null]), {
    pass_threshold: 0.7,
    pass_rate: null,
    pass_at_k: {},
    pass_hat_k: {},
  });
});

Deno.test("an attempt whose mean lost its last digit to rounding passes", () => {
  assertEquals(ratesOf([(0.7 + 0.7 + 0.7) / 3]).pass_rate, 1);
});

const counts = (passed: number, attempts: number) => ({ passed, attempts });

Deno.test("a run's pass rates are means over its scenarios", () => {
  const { pass_rate, pass_at_k, pass_hat_k } = runPassRates([
    counts(3, 3),
    counts(0, 3),
    counts(1, 2),
  ]);
  assertAlmostEquals(pass_rate!.mean!, 0.5, 1e-12);
  assertEquals(pass_rate!.n, 3);
  assertEquals(pass_rate!.ci95_reason, "3 scenarios: an interval needs 5");
  // k = 2: at least one of two passes in 1, 0 and 1 of the scenarios; both do in 1, 0 and 0.
  assertAlmostEquals(pass_at_k["2"]!.mean!, 2 / 3, 1e-12);
  assertAlmostEquals(pass_hat_k["2"]!.mean!, 1 / 3, 1e-12);
  assertEquals(pass_at_k["3"]!.n, 2);
});

Deno.test("a run without a scored attempt has no pass rate", () => {
  const rates = runPassRates([counts(0, 0)]);
  assertEquals([rates.pass_rate, rates.pass_at_k], [null, {}]);
});
