import type { InteractionResult } from "../../test/interaction_result.ts";
import type { Scores, Statistic } from "../../test/statistics.ts";
import { counted } from "../../../shared/service/text.ts";
import { isUnanswered } from "../../test/barred.ts";
import { mean, sampleVariance } from "../../score/mean.ts";
import { FEWEST_FOR_INTERVAL, meanInterval } from "./mean_interval.ts";

/** A turn's scores for an average. */
export interface ScoredTurn {
  scores: Scores;
  /** A failed turn counts 0. */
  failed: boolean;
  /** Whether it failed without an answer, so that it could have had any score. */
  unanswered?: boolean;
  /** Turns of one cluster are not independent; see `ofSample`. */
  cluster: number;
  /** Missing scores, each with its bounds. */
  missing?: Record<string, Span>;
}

type Span = readonly [low: number, high: number];

/** See `ScoredTurn` for `cluster`. */
export function toScoredTurn(
  result: Pick<InteractionResult, "scores" | "error" | "missing_scores" | "overall_bounds">,
  cluster: number,
): ScoredTurn {
  const { scores, error, missing_scores, overall_bounds } = result;
  const turn: ScoredTurn = { scores, failed: error !== undefined, cluster };
  if (isUnanswered(result)) turn.unanswered = true;
  if (!missing_scores) return turn;
  const missing: Record<string, Span> = {};
  for (const name in missing_scores) {
    missing[name] = (name === "overall" ? overall_bounds : undefined) ?? [0, 1];
  }
  return { ...turn, missing };
}

/** What the clusters are: attempts at a scenario, or scenarios. */
type Sampled = "attempt" | "scenario";

/** Sums over the turns of one cluster, with missing values at their lowest and highest. */
interface ClusterSums {
  low: number;
  high: number;
  count: number;
}

/**
 * One score over the turns that should have it. If it is missing for some, the mean is unknown and
 * `bounds` is set. Turns of a cluster must follow one another. There is an interval over the
 * clusters only if `sampled` is set.
 */
export function scoreStatistic(
  name: string,
  turns: ScoredTurn[],
  sampled?: Sampled,
): Statistic {
  const all: ClusterSums = { low: 0, high: 0, count: 0 };
  const clusters: ClusterSums[] = [];
  const answered = { sum: 0, count: 0 };
  let open: number | undefined;
  let missing = 0;
  let unanswered = 0;
  let average = 0; // Welford's algorithm: a difference of large squares would lose digits
  let squares = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const turn of turns) {
    const value = turn.scores[name];
    const isKnown = typeof value === "number";
    const span = isKnown ? [value, value] as const : turn.missing?.[name];
    if (!span) continue;
    if (turn.cluster !== open) clusters.push({ low: 0, high: 0, count: 0 });
    open = turn.cluster;
    for (const sums of [all, clusters.at(-1)!]) {
      sums.low += span[0];
      sums.high += span[1];
      sums.count++;
    }
    if (!isKnown) {
      missing++;
      continue;
    }
    min = Math.min(min, value);
    max = Math.max(max, value);
    const deviation = value - average;
    average += deviation / (all.count - missing);
    squares += deviation * (value - average);
    if (turn.unanswered) unanswered++;
    if (turn.failed) continue;
    answered.sum += value;
    answered.count++;
  }
  const known = all.count - missing;
  if (all.count === 0) {
    return { n: 0, turns: 0, failed: 0, missing: 0, mean: null, bounds: null, ci95: null };
  }
  const failed = known - answered.count;
  const bounds: [number, number] | null = missing === 0
    ? null
    : [all.low / all.count, all.high / all.count];
  return {
    n: all.count,
    turns: known,
    failed,
    missing,
    mean: bounds ? null : all.low / all.count,
    bounds,
    ...ofSample(clusters, sampled),
    mean_of_answered: missing > 0 || answered.count === 0 ? null : answered.sum / answered.count,
    stdev: missing > 0 || known < 2 ? null : Math.sqrt(squares / (known - 1)),
    min: known === 0 ? null : min,
    max: known === 0 ? null : max,
    ...(unanswered > 0 && {
      error_bounds: [all.low / all.count, (all.high + unanswered) / all.count],
    }),
  };
}

/**
 * The interval and the standard error over the means of clusters: turns that fail together are not
 * independent evidence. A run without an interval has a `ci95_reason`.
 */
export function ofSample(
  clusters: ClusterSums[],
  sampled?: Sampled,
): Pick<Statistic, "ci95" | "ci95_reason" | "stderr"> {
  if (sampled === undefined) return { ci95: null, stderr: null };
  const lows = clusters.map(({ low, count }) => low / count);
  const highs = clusters.map(({ high, count }) => high / count);
  const isKnown = clusters.every(({ low, high }) => low === high);
  const ci95 = meanInterval(lows, highs);
  return {
    ci95,
    ...(!ci95 && sampled === "scenario" && { ci95_reason: tooFew(clusters.length) }),
    stderr: isKnown ? standardError(lows) : null,
  };
}

/** The reason why there is no interval. */
export function tooFew(scenarios: number): string {
  return `${counted(scenarios, "scenario")}: an interval needs ${FEWEST_FOR_INTERVAL}`;
}

function standardError(values: number[]): number | null {
  const spread = sampleVariance(values);
  return spread === null ? null : Math.sqrt(spread / values.length);
}

/**
 * The mean and the spread of each score over the turns of one attempt that should have it. A score
 * that applies nowhere is `null`; names keep the order in which they first occur. Only the `wanted`
 * scores; all if it is unset.
 */
export function aggregateScores(
  turns: ScoredTurn[],
  wanted?: readonly string[],
): AggregatedScores {
  const names = scoreNames(turns).filter((name) => wanted?.includes(name) ?? true);
  return withMeans(names.map((name) => [name, scoreStatistic(name, turns)]));
}

/**
 * The same for a scenario, with an interval over its attempts. The turns of an attempt follow one
 * another; there may be 100,000 of them.
 */
export function aggregateAttempts(
  turns: ScoredTurn[],
  pause: () => Promise<void>,
): Promise<AggregatedScores> {
  return describeEach(scoreNames(turns), (name) => scoreStatistic(name, turns, "attempt"), pause);
}

/** `pause` is awaited before each score. */
export async function describeEach(
  names: string[],
  describe: (name: string) => Statistic,
  pause: () => Promise<void>,
): Promise<AggregatedScores> {
  const found: [name: string, statistic: Statistic][] = [];
  for (const name of names) {
    await pause();
    found.push([name, describe(name)]);
  }
  return withMeans(found);
}

function withMeans(named: [name: string, statistic: Statistic][]): AggregatedScores {
  return {
    average_scores: Object.fromEntries(named.map(([name, { mean }]) => [name, mean])),
    statistics: Object.fromEntries(named),
  };
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
      mean_of_answered: missing > 0 ? null : mean(answered),
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

function scoreNames(turns: ScoredTurn[]): string[] {
  const names = new Set<string>();
  for (const { scores, missing } of turns) {
    for (const name in scores) names.add(name);
    for (const name in missing) names.add(name);
  }
  return [...names];
}
