import type { Scores, Statistic } from "../schemas/statistics.ts";
import { type ScoredTurn, scoreStatistic } from "./score_statistic.ts";

/**
 * The mean and the spread of each score over the turns of one attempt that should have it. A score
 * that applies nowhere is `null`; names keep the order in which they first occur. Only the `wanted`
 * scores; all if it is unset.
 */
export function aggregateScores(
  turns: ScoredTurn[],
  wanted?: readonly string[],
): AggregatedScores {
  const average_scores: Scores = {};
  const statistics: Record<string, Statistic> = {};
  for (const name of scoreNames(turns)) {
    if (wanted && !wanted.includes(name)) continue;
    const statistic = scoreStatistic(name, turns);
    average_scores[name] = statistic.mean;
    statistics[name] = statistic;
  }
  return { average_scores, statistics };
}

/**
 * The same for a scenario, with an interval over its attempts. The turns of an attempt follow one
 * another. `pause` is awaited before each score: there may be 100,000 turns.
 */
export async function aggregateAttempts(
  turns: ScoredTurn[],
  pause: () => Promise<void>,
): Promise<AggregatedScores> {
  const average_scores: Scores = {};
  const statistics: Record<string, Statistic> = {};
  for (const name of scoreNames(turns)) {
    await pause();
    statistics[name] = scoreStatistic(name, turns, "attempt");
    average_scores[name] = statistics[name].mean;
  }
  return { average_scores, statistics };
}

/** Sums of one score over the scenarios with the same question. */
interface QuestionSums {
  low: number;
  high: number;
  /** With failed turns at 1. */
  highIfAnswered: number;
  count: number;
  answered: { sum: number; count: number };
}

interface ScenarioColumn {
  questions: Map<string, QuestionSums>;
  turns: number;
  failed: number;
  missing: number;
  hasErrors: boolean;
}

/**
 * The mean and the spread over the scenarios of a run, which are added one by one and have equal
 * weight. Scenarios with the same `question` count as one: `n` is the number of questions; `turns`,
 * `failed` and `missing` are numbers of turns.
 */
export function createScenarioAggregate() {
  const columns = new Map<string, ScenarioColumn>();
  return {
    add(statistics: Record<string, Statistic>, question: string): void {
      for (const name in statistics) {
        const { mean, mean_of_answered, turns, failed, missing, bounds, error_bounds } =
          statistics[name]!;
        const column = columns.getOrInsertComputed(
          name,
          () => ({ questions: new Map(), turns: 0, failed: 0, missing: 0, hasErrors: false }),
        );
        column.turns += turns;
        column.failed += failed;
        column.missing += missing;
        if (error_bounds) column.hasErrors = true;
        const span = bounds ?? (mean === null ? null : [mean, mean]);
        if (!span) continue;
        const sums = column.questions.getOrInsertComputed(question, noSums);
        sums.low += span[0];
        sums.high += span[1];
        sums.highIfAnswered += (error_bounds ?? span)[1];
        sums.count++;
        if (typeof mean_of_answered !== "number") continue;
        sums.answered.sum += mean_of_answered;
        sums.answered.count++;
      }
    },
    names: () => [...columns.keys()],
    /** Slow, if there are a hundred thousand questions. */
    describe: (name: string): Statistic => describeColumn(name, columns.get(name)!),
  };
}

function noSums(): QuestionSums {
  return { low: 0, high: 0, highIfAnswered: 0, count: 0, answered: { sum: 0, count: 0 } };
}

/** Treats each question as a turn of `scoreStatistic`. */
function describeColumn(name: string, column: ScenarioColumn): Statistic {
  const { turns, failed, missing, hasErrors } = column;
  const questions = [...column.questions.values()];
  const values = questions.map(({ low, high, count }, cluster): ScoredTurn => {
    const span = [low / count, high / count] as const;
    return low === high
      ? { scores: { [name]: span[0] }, failed: false, cluster }
      : { scores: {}, failed: false, cluster, missing: { [name]: span } };
  });
  const statistic = scoreStatistic(name, values, "scenario");
  const answered = questions.flatMap(({ answered: { sum, count } }) =>
    count === 0 ? [] : [sum / count]
  );
  const sumOf = (of: (sums: QuestionSums) => number) =>
    questions.reduce((sum, own) => sum + of(own) / own.count, 0);
  return {
    ...statistic,
    n: questions.length,
    turns,
    failed,
    missing,
    ...(questions.length > 0 && {
      mean_of_answered: missing > 0 || answered.length === 0
        ? null
        : answered.reduce((sum, value) => sum + value, 0) / answered.length,
    }),
    ...(hasErrors && {
      error_bounds: [
        sumOf(({ low }) => low) / questions.length,
        sumOf(({ highIfAnswered }) => highIfAnswered) / questions.length,
      ],
    }),
  };
}

export interface AggregatedScores {
  average_scores: Scores;
  statistics: Record<string, Statistic>;
}

function scoreNames(turns: ScoredTurn[]): Set<string> {
  const names = new Set<string>();
  for (const { scores, missing } of turns) {
    for (const name in scores) names.add(name);
    for (const name in missing) names.add(name);
  }
  return names;
}
