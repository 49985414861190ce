import { jsonPieces } from "../../shared/http/json_stream.ts";
import type { Scenario, ScenarioResult } from "../../shared/schemas/evaluate.ts";
import type { RunReader, StoredRun, StoredTurn } from "../store/store.ts";
import { createTotals, summariseAttempt, summariseRun, summariseScenario } from "../summary.ts";

/** How deep a scenario is written piece by piece: down to its attempts. */
const SCENARIO_DEPTH = 2;

/**
 * The body of a completed run's answer (spec 2.4) as JSON text, in pieces. It is made from the
 * stored turns, scenario by scenario: the whole of it is never in memory.
 */
export async function* resultPieces(store: RunReader, run: StoredRun): AsyncGenerator<string> {
  const { done, failed } = await store.tally(run.id);
  const heading = summariseRun(run.request, { runId: run.id, total: done, failed });
  yield `${JSON.stringify(heading).slice(0, -1)},"results":{"scenarios":[`;
  const totals = createTotals();
  let comma = "";
  for await (const scenario of scenarioResults(store, run)) {
    totals.add(scenario);
    yield comma;
    yield* jsonPieces(scenario, SCENARIO_DEPTH);
    comma = ",";
  }
  yield `],${JSON.stringify(totals.close()).slice(1)}}`;
}

/** The scenarios of a completed run, one after another. */
export async function* scenarioResults(
  store: RunReader,
  run: StoredRun,
): AsyncGenerator<ScenarioResult> {
  const scenarios = run.request.test_batch;
  for await (const turns of groupBy(store.turns(run.id), ({ scenario }) => scenario)) {
    yield toScenarioResult(scenarios[turns[0]!.scenario]!, turns);
  }
}

function toScenarioResult(scenario: Scenario, turns: StoredTurn[]): ScenarioResult {
  const attempts = Map.groupBy(turns, ({ attempt }) => attempt);
  return summariseScenario(
    scenario,
    [...attempts].map(([attempt, turns]) => summariseAttempt(attempt, turns)),
  );
}

async function* groupBy<T>(items: AsyncIterable<T>, keyOf: (item: T) => number) {
  let group: T[] = [];
  for await (const item of items) {
    if (group.length > 0 && keyOf(group[0]!) !== keyOf(item)) {
      yield group;
      group = [];
    }
    group.push(item);
  }
  if (group.length > 0) yield group;
}
