import type { Scores, Statistic } from "../schemas/statistics.ts";
import { type ScoredTurn, scoreStatistic } from "./score_statistic.ts";
import { finish, type Steps } from "./steps.ts";

/**
 * The mean and the spread of each score over the turns that have one. A score that applies nowhere
 * is `null`; names keep the order in which they first occur. Turns of a cluster follow one another.
 */
export function aggregateScores(turns: ScoredTurn[]): AggregatedScores {
  return finish(aggregateInSteps(turns));
}

/**
 * The same in steps of some milliseconds each: a scenario may have a hundred thousand turns. Only
 * the `wanted` scores; all if it is unset.
 */
export function* aggregateInSteps(
  turns: ScoredTurn[],
  wanted?: readonly string[],
): Steps<AggregatedScores> {
  const average_scores: Scores = {};
  const statistics: Record<string, Statistic> = {};
  for (const name of yield* scoreNames(turns)) {
    if (wanted && !wanted.includes(name)) continue;
    const statistic = scoreStatistic(name, turns);
    average_scores[name] = statistic.mean;
    statistics[name] = statistic;
    yield;
  }
  return { average_scores, statistics };
}

/** A scenario's own statistics, by score. */
export type ScenarioScores = Record<string, Statistic>;

/** One score over scenarios: of each only what the spread needs, since there may be many. */
interface ScenarioColumn {
  means: number[];
  answered: { sum: number; count: number };
  turns: number;
  failed: number;
  missing: number;
  /** Also counts scenarios that have nothing but missing turns. */
  bounds: SpanSum;
  /** The same with the failed turns at 0 and at 1. */
  errorBounds: SpanSum;
}

interface SpanSum {
  low: number;
  high: number;
  count: number;
}

function addSpan(sum: SpanSum, [low, high]: readonly [number | null, number | null]): void {
  if (low === null || high === null) return;
  sum.low += low;
  sum.high += high;
  sum.count++;
}

function meanSpan({ low, high, count }: SpanSum): [number, number] {
  return [low / count, high / count];
}

/**
 * The mean and the spread over scenarios, which come one after another and count alike: `n` are
 * scenarios; `turns`, `failed` and `missing` are numbers of their turns.
 */
export function createScenarioAggregate() {
  const columns = new Map<string, ScenarioColumn>();

  function columnOf(name: string): ScenarioColumn {
    let column = columns.get(name);
    if (!column) {
      column = {
        means: [],
        answered: { sum: 0, count: 0 },
        turns: 0,
        failed: 0,
        missing: 0,
        bounds: { low: 0, high: 0, count: 0 },
        errorBounds: { low: 0, high: 0, count: 0 },
      };
      columns.set(name, column);
    }
    return column;
  }

  return {
    add(statistics: ScenarioScores): void {
      for (const name in statistics) {
        const { mean, mean_of_answered, turns, failed, missing, bounds, error_bounds } =
          statistics[name]!;
        const column = columnOf(name);
        column.turns += turns;
        column.failed += failed;
        column.missing += missing;
        if (mean !== null) column.means.push(mean);
        if (mean_of_answered !== null) {
          column.answered.sum += mean_of_answered;
          column.answered.count++;
        }
        const span = bounds ?? [mean, mean] as const;
        addSpan(column.bounds, span);
        addSpan(column.errorBounds, error_bounds ?? span);
      }
    },
    *close(): Steps<AggregatedScores> {
      const average_scores: Scores = {};
      const statistics: Record<string, Statistic> = {};
      for (const [name, column] of columns) {
        const { means, answered, turns, failed, missing } = column;
        const observed = means.map((mean, cluster): ScoredTurn => ({
          scores: { [name]: mean },
          failed: false,
          cluster,
        }));
        const statistic = scoreStatistic(name, observed);
        average_scores[name] = statistic.mean;
        statistics[name] = {
          ...statistic,
          turns,
          failed,
          missing,
          bounds: missing === 0 ? null : meanSpan(column.bounds),
          mean_of_answered: answered.count === 0 ? null : answered.sum / answered.count,
          ...(failed > 0 && { error_bounds: meanSpan(column.errorBounds) }),
        };
        yield;
      }
      return { average_scores, statistics };
    },
  };
}

export interface AggregatedScores {
  average_scores: Scores;
  statistics: Record<string, Statistic>;
}

/** Turns looked at in one step: about a millisecond. */
const STEP = 1_000;

function* scoreNames(turns: ScoredTurn[]): Steps<Set<string>> {
  const names = new Set<string>();
  for (const [index, { scores }] of turns.entries()) {
    for (const name in scores) names.add(name);
    if (index % STEP === STEP - 1) yield;
  }
  return names;
}
