import type {
  AttemptResult,
  EvaluateResponse,
  ScenarioResult,
} from "../../eval/test/evaluate_response.ts";
import type { Scenario } from "../../eval/test/scenario.ts";
import type { RunPassRates, Statistic } from "../../eval/test/statistics.ts";
import {
  DEFAULT_PASS_THRESHOLD,
  type PassCounts,
  runPassRates as passRatesOf,
} from "../../eval/figures/passing.ts";
import {
  type AggregatedScores,
  createScenarioAggregate,
} from "../../eval/figures/summary/statistics.ts";
import {
  createTotals,
  ownFields,
  summariseAttempt as summaryOfAttempt,
  summariseScenario as summaryOfScenario,
} from "../../eval/figures/summary/summary.ts";
import type { StoredTurn } from "../../eval/store/turn_record.ts";

// What the service computes turn by turn, computed here from all turns at once.

const pause = () => Promise.resolve();

/** One attempt; `attempt` counts from 0. */
export function summariseAttempt(attempt: number, turns: StoredTurn[]): AttemptResult {
  const interactions = turns.map(({ result }) => result);
  const tookMs = turns.reduce((sum, turn) => sum + turn.tookMs, 0);
  const { attempt_id, ...rest } = summaryOfAttempt(attempt, { interactions, tookMs });
  return { attempt_id, interactions, ...rest };
}

/** A scenario with its attempts. */
export async function summariseScenario(
  scenario: Scenario,
  attempts: AttemptResult[],
  passThreshold?: number,
): Promise<ScenarioResult> {
  const { summary } = await summaryOfScenario(attempts, { passThreshold, pause });
  return {
    ...ownFields(scenario),
    scenario_id: scenario.id,
    attempts,
    ...summary,
  } as ScenarioResult;
}

/** `results` without its scenarios. */
export async function summariseScenarios(
  scenarios: ScenarioResult[],
): Promise<Omit<EvaluateResponse["results"], "scenarios">> {
  const totals = createTotals();
  for (const scenario of scenarios) {
    for (const { interactions } of scenario.attempts) interactions.forEach(totals.addTurn);
    const { attempts, pass_threshold, scenario_id } = scenario;
    const ended = await summaryOfScenario(attempts, { passThreshold: pass_threshold, pause });
    totals.add({ ...ended, attempts, question: scenario_id });
  }
  return totals.close();
}

/** The mean and the spread over scenarios, from the statistics of each. */
export function aggregateScenarios(scenarios: Record<string, Statistic>[]): AggregatedScores {
  const aggregate = createScenarioAggregate();
  for (const [index, statistics] of scenarios.entries()) aggregate.add(statistics, `${index}`);
  const statistics = Object.fromEntries(
    aggregate.names().map((name) => [name, aggregate.describe(name)]),
  );
  const means = Object.entries(statistics).map(([name, { mean }]) => [name, mean]);
  return { average_scores: Object.fromEntries(means), statistics };
}

/** The pass rates of a run. */
export function runPassRates(scenarios: PassCounts[]): RunPassRates {
  return passRatesOf(scenarios, DEFAULT_PASS_THRESHOLD);
}
