import type { Cluster } from "./clusters.ts";
import type { ScoreComparison, Verdict } from "./comparison.ts";
import { ALPHA } from "./sign_flip.ts";

const ROUNDING = 1e-12;

interface Evidence {
  p: number;
  p_adjusted: number;
  /** How many scores were looked at. */
  looked: number;
}

/** A verdict on one score, and in words why there is none. */
export function judge(
  clusters: Cluster[],
  evidence: Evidence,
): Pick<ScoreComparison, "verdict" | "reason"> {
  if (evidence.p_adjusted > ALPHA) {
    return { verdict: "inconclusive", reason: explain(clusters, evidence) };
  }
  const sum = clusters.reduce((sum, { baseline, candidate }) => sum + candidate - baseline, 0);
  return { verdict: sum > 0 ? "improved" : "regressed", reason: null };
}

/** A run is not better for one score while it is worse for another. */
export function overallVerdict(scores: Pick<ScoreComparison, "verdict">[]): Verdict {
  if (scores.some(({ verdict }) => verdict === "regressed")) return "regressed";
  return scores.some(({ verdict }) => verdict === "improved") ? "improved" : "inconclusive";
}

function explain(clusters: Cluster[], { p, p_adjusted, looked }: Evidence): string {
  const moved = clusters.filter(({ baseline, candidate }) =>
    Math.abs(candidate - baseline) > ROUNDING
  );
  if (moved.length === 0) return "no scenario differs";
  // The smallest p-value there is: all differences on one side, one of 2^(moved - 1) divisions.
  const needed = Math.ceil(1 - Math.log2(ALPHA / looked));
  if (moved.length < needed) {
    return `only ${count(moved.length, "scenario")} ${
      moved.length === 1 ? "differs" : "differ"
    }: ` +
      `with ${count(looked, "score")} looked at the test needs at least ${needed}`;
  }
  if (p <= ALPHA) {
    return `p is ${p.toFixed(3)} alone, but ${p_adjusted.toFixed(3)} among ` +
      `the ${looked} scores looked at`;
  }
  return "a difference of this size comes up by chance too often";
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
