import { ROUNDING } from "../../shared/rounding.ts";
import { mean } from "../assess/mean.ts";
import { studentT95 } from "./student_t.ts";

/** A mean of values in [0, 1] that come in clusters, and how far the clusters lie apart. */
export interface ClusteredMean {
  mean: number;
  /** Clusters: the number of independent pieces of evidence. At least 2. */
  clusters: number;
  /** The same if they differ in size: n² / Σ nᵢ² (Kish). */
  effectiveClusters: number;
  /** Clustered; see `aggregateScores`. */
  stderr: number;
  /** Of the clusters' residuals; 0 if they are symmetric. */
  skewness: number;
  /** Whether each cluster is all 0 or all 1, as one pass or failure each. */
  isAllOrNothing: boolean;
}

/**
 * Wilson's interval covers 95 % on average over p, but for single p as little as 91 %. With 2.2 in
 * place of 1.96 it covers 93 % to 99 % for p from 0.5 to 0.95 from 6 clusters on. Of 5 clusters no
 * interval can do that at p = 0.9: either 91.9 % or 99.1 % of the outcomes are covered.
 */
const WILSON_QUANTILE = 2.2;
/** How much skewness widens the interval; a skewed mean has less evidence on its long side. */
const SKEW_WEIGHT = 0.4;
/** The weight of one more value at the far end, which few values near one end cannot rule out. */
const UNSEEN_WEIGHT = 0.003;

/**
 * Wilson's interval is wider than the one that Student's t is made for: the fewer clusters, the more.
 * With the whole of t 5 of them cover up to 99.6 %. Of 2 and 3 the whole is needed.
 */
const SURPLUS = 0.8;
const FEWEST_WITH_SURPLUS = 4;

/**
 * A 95 % interval for the mean, within [0, 1].
 *
 * Clusters of passes and failures: Wilson's score interval, one observation per cluster. It never is
 * [1, 1]. Other values: the same interval with Student's t and the effective sample size that their
 * standard error gives (mean × (1 − mean) / stderr²: the design effect), never below the number of
 * clusters. So it becomes narrower and asymmetric close to 0 and 1, where a plain interval passes
 * the end. Its coverage over sizes and distributions: `deno task bench trust`.
 *
 * ```ts
 * import { assert } from "@std/assert";
 *
 * const scores = [[0.9], [0.8], [1], [0.7], [0.95], [0.85]]; // six scenarios with one turn each
 * const [low, high] = meanInterval({ ...spreadOf(scores), isAllOrNothing: false });
 * assert(0.7 < low && low < 0.867 && 0.867 < high && high < 1);
 * ```
 */
export function meanInterval(
  { mean, clusters, effectiveClusters, stderr, skewness, isAllOrNothing }: ClusteredMean,
): [number, number] {
  if (isAllOrNothing || mean <= 0 || mean >= 1) {
    return wilson(mean, { size: effectiveClusters, quantile: WILSON_QUANTILE });
  }
  const widened = stderr * (1 + SKEW_WEIGHT * Math.abs(skewness) / Math.sqrt(clusters));
  const unseen = UNSEEN_WEIGHT * (Math.max(mean, 1 - mean) / clusters) ** 2;
  const size = mean * (1 - mean) / (widened ** 2 + unseen);
  return wilson(mean, {
    size: Math.max(size, effectiveClusters),
    quantile: quantileOf(clusters),
  });
}

/** The mean of some differences in [-1, 1] that come in clusters, and how far these lie apart. */
export function spreadOf(clusters: number[][]): Omit<ClusteredMean, "isAllOrNothing"> {
  const count = clusters.length;
  const values = clusters.flat();
  const average = mean(values)!;
  const residuals = clusters.map((own) => own.reduce((sum, value) => sum + value - average, 0));
  const moment = (power: number) => mean(residuals.map((residual) => residual ** power))!;
  const variance = moment(2);
  return {
    mean: average,
    clusters: count,
    effectiveClusters: values.length ** 2 /
      clusters.reduce((sum, { length }) => sum + length ** 2, 0),
    stderr: count * Math.sqrt(variance / (count - 1)) / values.length,
    skewness: variance < ROUNDING ** 2 ? 0 : moment(3) / variance ** 1.5,
  };
}

/**
 * A 95 % interval for a mean difference, within [-1, 1]: `meanInterval` on that scale together with
 * Student's. Of the differences of passes and failures Student's alone covers as little as 88 %, and
 * the other, which is narrower close to -1 and 1, as little as 84 %.
 */
export function differenceInterval(
  { mean, stderr, ...clustered }: Omit<ClusteredMean, "isAllOrNothing">,
): [number, number] {
  const half = studentT95(clustered.clusters - 1) * stderr;
  const [low, high] = meanInterval({
    ...clustered,
    mean: (mean + 1) / 2,
    stderr: stderr / 2,
    isAllOrNothing: false,
  });
  return [
    Math.max(-1, Math.min(2 * low - 1, mean - half)),
    Math.min(1, Math.max(2 * high - 1, mean + half)),
  ];
}

/**
 * A 95 % interval for a mean difference in [-1, 1] if the clusters show no spread at all: Student's
 * would be a single value, as if more of them could not differ. By Wilson's interval some share of
 * clusters of another kind is not ruled out, and their difference may be anything.
 */
export function unseenInterval(difference: number, clusters: number): [number, number] {
  const [seen] = wilson(1, { size: clusters, quantile: WILSON_QUANTILE });
  const unseen = 1 - seen;
  return [difference - unseen * (1 + difference), difference + unseen * (1 - difference)];
}

function quantileOf(clusters: number): number {
  const surplus = clusters < FEWEST_WITH_SURPLUS ? 0 : SURPLUS / clusters;
  return studentT95(clusters - 1) * (1 - surplus);
}

function wilson(
  mean: number,
  { size, quantile }: { size: number; quantile: number },
): [number, number] {
  const share = quantile ** 2 / size;
  const centre = (mean + share / 2) / (1 + share);
  const half = quantile / (1 + share) * Math.sqrt(mean * (1 - mean) / size + share / (4 * size));
  return [Math.max(0, Math.min(mean, centre - half)), Math.min(1, Math.max(mean, centre + half))];
}
