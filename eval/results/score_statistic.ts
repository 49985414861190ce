import type { InteractionResult } from "../schemas/interaction_result.ts";
import type { Scores, Statistic } from "../schemas/statistics.ts";
import { ROUNDING } from "../../shared/rounding.ts";
import { type ClusteredMean, meanInterval } from "./mean_interval.ts";

/** A turn's scores, as an average sees them. */
export interface ScoredTurn {
  scores: Scores;
  /** A failed turn counts 0 in the mean and is left out of the mean of those answered. */
  failed: boolean;
  /** Turns of one cluster are not independent of one another; see `spread`. */
  cluster: number;
  /** Scores that the turn should have and lacks, each with the span in which it lies. */
  missing?: Record<string, Span>;
}

type Span = readonly [low: number, high: number];
const ANYWHERE: Span = [0, 1];

/** `cluster` says with which other turns its result goes together. */
export function toScoredTurn(
  result: Pick<InteractionResult, "scores" | "error" | "missing_scores" | "overall_bounds">,
  cluster: number,
): ScoredTurn {
  const { scores, error, missing_scores, overall_bounds } = result;
  const turn: ScoredTurn = { scores, failed: error !== undefined, cluster };
  if (!missing_scores) return turn;
  const missing: Record<string, Span> = {};
  for (const name in missing_scores) {
    missing[name] = name === "overall" ? overall_bounds ?? ANYWHERE : ANYWHERE;
  }
  return { ...turn, missing };
}

/**
 * One score over the turns that have it. Two passes over the turns and nothing kept: a long run
 * has ten thousand of them. Turns of a cluster follow one another.
 */
export function scoreStatistic(name: string, turns: ScoredTurn[]): Statistic {
  let n = 0;
  let missing = 0;
  let lowest = 0;
  let highest = 0;
  let answered = 0;
  let sum = 0;
  let answeredSum = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const { scores, failed, missing: lacking } of turns) {
    const value = scores[name];
    if (typeof value !== "number") {
      const span = lacking?.[name];
      if (!span) continue;
      missing++;
      lowest += span[0];
      highest += span[1];
      continue;
    }
    n++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
    if (failed) continue;
    answered++;
    answeredSum += value;
  }
  const all = n + missing;
  const bounds: [number, number] | null = missing === 0
    ? null
    : [(sum + lowest) / all, (sum + highest) / all];
  if (n === 0) return { ...NOTHING, missing, bounds };
  const average = sum / n;
  const failed = n - answered;
  const { stdev, clustered } = spread(name, turns, { n, average });
  return {
    n,
    turns: n,
    failed,
    missing,
    bounds,
    mean: average,
    mean_of_answered: answered === 0 ? null : answeredSum / answered,
    stdev,
    stderr: clustered?.stderr ?? null,
    ci95: clustered && meanInterval({ mean: average, ...clustered }),
    min,
    max,
    ...(failed > 0 && {
      error_bounds: [(answeredSum + lowest) / all, (answeredSum + highest + failed) / all],
    }),
  };
}

const NOTHING: Statistic = {
  n: 0,
  turns: 0,
  failed: 0,
  missing: 0,
  bounds: null,
  mean: null,
  mean_of_answered: null,
  stdev: null,
  stderr: null,
  ci95: null,
  min: null,
  max: null,
};

/**
 * The sample's standard deviation (n − 1), and how far apart the clusters lie. The standard error
 * is that of a mean whose observations come in clusters: the residuals of a cluster are summed
 * before they are squared, so that turns which fail together do not count as so many proofs. With
 * one observation per cluster this is the ordinary s/√n. `null` for fewer than two observations, or
 * clusters.
 */
function spread(
  name: string,
  turns: ScoredTurn[],
  { n, average }: { n: number; average: number },
): { stdev: number | null; clustered: Omit<ClusteredMean, "mean"> | null } {
  let squares = 0;
  const clusters = { count: 0, squares: 0, cubes: 0, sizes: 0, isAllOrNothing: true };
  let current: number | undefined;
  let residual = 0;
  let size = 0;
  let first = 0;
  const closeCluster = () => {
    clusters.squares += residual ** 2;
    clusters.cubes += residual ** 3;
    clusters.sizes += size ** 2;
  };
  for (const { scores, cluster } of turns) {
    const value = scores[name];
    if (typeof value !== "number") continue;
    squares += (value - average) ** 2;
    if (cluster !== current) {
      closeCluster();
      residual = 0;
      size = 0;
      first = value;
      clusters.count++;
      current = cluster;
    }
    residual += value - average;
    size++;
    if (value !== first || (value !== 0 && value !== 1)) clusters.isAllOrNothing = false;
  }
  closeCluster();
  const { count } = clusters;
  const variance = clusters.squares / count;
  return {
    stdev: n < 2 ? null : Math.sqrt(squares / (n - 1)),
    clustered: count < 2 ? null : {
      clusters: count,
      effectiveClusters: n ** 2 / clusters.sizes,
      stderr: Math.sqrt(count / (count - 1) * clusters.squares) / n,
      skewness: variance < ROUNDING ** 2 ? 0 : clusters.cubes / count / variance ** 1.5,
      isAllOrNothing: clusters.isAllOrNothing,
    },
  };
}
