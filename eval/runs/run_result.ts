import { jsonPieces } from "../../shared/http/json_stream.ts";
import type { Scenario, ScenarioResult } from "../../shared/schemas/evaluate.ts";
import type { RunReader, StoredRun, StoredTurn } from "../store/store.ts";
import { createTotals, summariseAttempt, summariseRun, summariseScenario } from "../summary.ts";

/** The part of a store that results are made from. */
export type TurnReader = Pick<RunReader, "turns" | "tally">;

/** How deep a scenario is written piece by piece: down to its attempts. */
const SCENARIO_DEPTH = 2;

/**
 * The body of a completed run's answer (spec 2.4) as JSON text, in pieces. It is made from the
 * stored turns, scenario by scenario: the whole of it is never in memory. `message` replaces the
 * one that says that the run is complete.
 */
export async function* resultPieces(
  store: TurnReader,
  run: StoredRun,
  { message }: { message?: string } = {},
): AsyncGenerator<string> {
  const { done, failed } = await store.tally(run.id);
  const heading = summariseRun(run.request, { runId: run.id, total: done, failed });
  if (message !== undefined) heading.message = message;
  yield `${JSON.stringify(heading).slice(0, -1)},"results":{"scenarios":[`;
  const totals = createTotals();
  let comma = "";
  for await (const { result } of scenarioResults(store, run)) {
    totals.add(result);
    yield comma;
    yield* jsonPieces(result, SCENARIO_DEPTH);
    comma = ",";
  }
  yield `],${JSON.stringify(totals.close()).slice(1)}}`;
}

/** The scenarios that have any turn, one after another; `index` is the place in the batch. */
export async function* scenarioResults(
  store: TurnReader,
  run: StoredRun,
): AsyncGenerator<{ index: number; result: ScenarioResult }> {
  const scenarios = run.request.test_batch;
  for await (const turns of groupBy(store.turns(run.id), ({ scenario }) => scenario)) {
    const index = turns[0]!.scenario;
    yield { index, result: toScenarioResult(scenarios[index]!, turns, run) };
  }
}

function toScenarioResult(
  scenario: Scenario,
  turns: StoredTurn[],
  { request }: StoredRun,
): ScenarioResult {
  const attempts = Map.groupBy(turns, ({ attempt }) => attempt);
  return summariseScenario(
    scenario,
    [...attempts].map(([attempt, turns]) => summariseAttempt(attempt, turns)),
    request.pass_threshold,
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
