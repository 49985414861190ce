import { assertAlmostEquals, assertEquals, assertObjectMatch } from "@std/assert";
import { writeResult } from "../../../eval/results/run_result.ts";
import { summariseTurns } from "../../../eval/results/run_summary.ts";
import { summariseRun } from "../../../eval/results/summary.ts";
import type { StoredRun } from "../../../eval/store/runs/run_record.ts";
import type { StoredTurn } from "../../../eval/store/turns/turn_record.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { textOf } from "../../fakes/stored_run.ts";
import { evaluateRequest, failure, storedTurn } from "../../fakes/stored_runs.ts";
import {
  summariseAttempt,
  summariseScenario,
  summariseScenarios,
} from "../../fakes/whole_results.ts";

/** The answer as its parts say it, written in one go. */
function writeWhole(run: StoredRun, turns: StoredTurn[]): string {
  const { request } = run;
  const failed = turns.filter(({ result }) => result.error).length;
  const scenarios = [...Map.groupBy(turns, ({ scenario }) => scenario)].map(([index, turns]) => {
    const attempts = [...Map.groupBy(turns, ({ attempt }) => attempt)]
      .map(([attempt, turns]) => summariseAttempt(attempt, turns));
    return summariseScenario(request.test_batch[index]!, attempts, request.pass_threshold);
  });
  const heading = summariseRun(request, {
    runId: run.id,
    testName: run.testName,
    done: turns.length,
    failed,
    missing: 0,
  });
  return JSON.stringify({ ...heading, results: { scenarios, ...summariseScenarios(scenarios) } });
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
  assertEquals(await textOf(writeResult(store, run, { detail: "full" })), writeWhole(run, turns));
});

Deno.test("a scenario's own fields are in the answer, and cannot replace ours", async () => {
  const request = evaluateRequest();
  const names = '{"attempts":"mine","labels":1,"2":"two","__proto__":{"a":1},"interactions_":[]}';
  request.test_batch[0] = { ...JSON.parse(names), ...request.test_batch[0] };
  const turns = [storedTurn([0, 0, 0]), storedTurn([0, 1, 0])];
  const { store, run } = await storeTurns(turns, request);
  const text = await textOf(writeResult(store, run, { detail: "full" }));
  assertEquals(JSON.parse(text), JSON.parse(writeWhole(run, turns)));
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
