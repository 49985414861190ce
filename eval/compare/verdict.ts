import { counted } from "../../shared/counted.ts";
import type { ScoreComparison, Verdict } from "./comparison.ts";
import type { PermutationResult } from "./permutation.ts";
import { ALPHA } from "./spans.ts";
import { formatP, ROUNDING } from "../../shared/rounding.ts";

export interface Evidence {
  test: PermutationResult;
  /** The largest p-value that the missing values allow. */
  worstP: number;
  /** The largest that they and the failed calls allow. */
  worstPIfAnswered: number;
  p_adjusted: number;
  /** The adjusted p-value if failed calls count 0. */
  pAsCounted: number;
  /** What a test without a verdict is held to: its share of 0.05 among those without one. */
  level: number;
  /** How many were looked at. */
  looked: number;
  /** Of what, such as `score`. */
  what: string;
  missing: ScoreComparison["missing"];
  failed: NonNullable<ScoreComparison["failed"]>;
}

/** The reason if both runs have the same in every scenario. */
export const NO_DIFFERENCE = "no scenario differs";

/** A verdict on one score by its scenarios' differences, and in words why there is none. */
export function decideVerdict(
  differences: number[],
  evidence: Evidence,
): Pick<ScoreComparison, "verdict" | "reason"> {
  if (evidence.p_adjusted > ALPHA) {
    return { verdict: "inconclusive", reason: explain(differences, evidence) };
  }
  const sum = differences.reduce((sum, difference) => sum + difference, 0);
  return { verdict: sum > 0 ? "improved" : "regressed", reason: null };
}

/** A run is not better for one score while it is worse for another. */
export function overallVerdict(scores: Pick<ScoreComparison, "verdict">[]): Verdict {
  if (scores.some(({ verdict }) => verdict === "regressed")) return "regressed";
  return scores.some(({ verdict }) => verdict === "improved") ? "improved" : "inconclusive";
}

/**
 * The scores that have regressed. One whose failed calls could change that is among them: an
 * endpoint that fails must not pass for one that has not been shown to be worse.
 */
export function regressedScores(scores: Record<string, ScoreComparison>): string[] {
  return Object.keys(scores).filter((name) => {
    const { verdict, verdict_as_counted = verdict } = scores[name]!;
    return verdict === "regressed" || verdict_as_counted === "regressed";
  });
}

/** A p-value in a sentence. */
function wordP(p: number): string {
  return formatP(p).replace("<", "below ");
}

function explain(
  differences: number[],
  evidence: Evidence,
): string {
  const { test, worstP, worstPIfAnswered, p_adjusted, pAsCounted, looked, what } = evidence;
  const { level, missing, failed } = evidence;
  const moved = differences.filter((difference) => Math.abs(difference) > ROUNDING).length;
  if (moved === 0) return NO_DIFFERENCE;
  // The smallest p-value there is: all differences on one side, one of 2^(moved - 1) divisions. The
  // test of unequal attempts can only raise it.
  const needed = Math.ceil(1 - Math.log2(level));
  if (moved < needed && pAsCounted > ALPHA) {
    return `only ${counted(moved, "scenario")} ${moved === 1 ? "differs" : "differ"}: ` +
      `with ${counted(looked, what)} looked at the test needs at least ${needed}`;
  }
  if (test.p <= ALPHA && worstP > ALPHA) {
    return `p is ${wordP(test.p)} without the missing values (${missing.baseline} in the ` +
      `baseline, ${missing.candidate} in the candidate), but they could change the verdict`;
  }
  if (test.p <= ALPHA && worstPIfAnswered > ALPHA) {
    return `p is ${wordP(test.p)} if failed calls count 0 (${failed.baseline} in the ` +
      `baseline, ${failed.candidate} in the candidate), but had they been answered they could ` +
      "change the verdict";
  }
  if (test.p <= ALPHA) {
    return `p is ${wordP(worstPIfAnswered)} alone, but ${wordP(p_adjusted)} among ` +
      `the ${counted(looked, what)} looked at`;
  }
  if (test.pOfScenarios <= ALPHA) {
    return "the runs differ in attempts, and equal models would differ by as much too often";
  }
  return "a difference of this size comes up by chance too often";
}
