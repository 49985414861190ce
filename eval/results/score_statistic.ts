import type { InteractionResult } from "../schemas/interaction_result.ts";
import type { Scores, Statistic } from "../schemas/statistics.ts";
import { counted } from "../../shared/text.ts";
import { isUnanswered } from "../schemas/unanswered.ts";
import { sampleVariance } from "../assess/mean.ts";
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
const ANYWHERE: Span = [0, 1];

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
    missing[name] = name === "overall" ? overall_bounds ?? ANYWHERE : ANYWHERE;
  }
  return { ...turn, missing };
}

/** What the clusters are: attempts at a scenario, or scenarios. */
export type Sampled = "attempt" | "scenario";

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
  if (all.count === 0) return NOTHING;
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

const NOTHING: Statistic = {
  n: 0,
  turns: 0,
  failed: 0,
  missing: 0,
  mean: null,
  bounds: null,
  ci95: null,
};
