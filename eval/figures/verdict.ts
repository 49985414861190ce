import { counted } from "../../shared/service/text.ts";
import { mean, sampleVariance } from "../score/mean.ts";
import { ALPHA, differenceInterval } from "./summary/mean_interval.ts";
import type { TestedScore } from "./compare/compare_scores.ts";
import type { ScoreVerdict, Verdict } from "./comparison.ts";
import { testedInterval } from "./compare/statistics/permutation.ts";
import { scenariosNeeded, stepOf } from "./compare/statistics/planning.ts";
import { formatP, ROUNDING } from "../test/rounding.ts";

/** The test of a score; `p` and `pAsCounted` are corrected if there are several `tests`. */
type Evidence =
  & Omit<TestedScore, "means">
  /** The uncorrected p and its level, and the number of tests; `p`, 5 % and 1 if unset. */
  & { pAlone?: number; level?: number; tests?: number };

/** The verdict on two runs, or the reason why it is inconclusive. */
export function decideVerdict(evidence: Evidence, minDifference = 0): ScoreVerdict {
  const { lows, highs, p, pAsCounted, leastAsCounted, pAlone = p, level = ALPHA } = evidence;
  const verdict = verdictOf(mean(lows)!, p);
  const isLarge = verdict === "improved" && mean(lows)! >= minDifference - ROUNDING;
  const least = testedInterval({ lows, highs }, { p: pAlone, alpha: level })?.[0] ?? -1;
  if (minDifference > 0 && !isLarge && least > -minDifference) {
    return { verdict: "equal_enough", reason: null };
  }
  if (verdict !== "inconclusive") return { verdict, reason: null };
  const asCounted = verdictOf(leastAsCounted, pAsCounted);
  return {
    verdict,
    reason: explain(evidence) +
      (minDifference > 0 ? describeNotEqual(evidence, { least, minDifference }) : ""),
    ...(asCounted !== verdict && { verdict_as_counted: asCounted }),
  };
}

/** The verdict if the deciding score was not compared. */
export function undecidable(score: string, why: string): ScoreVerdict {
  return { verdict: "inconclusive", reason: `${score} cannot be compared: ${why}` };
}

/**
 * Whether a comparison fails a build. An endpoint that does not answer must not pass as not shown
 * to be worse.
 */
export function isRegression({ verdict, verdict_as_counted = verdict }: ScoreVerdict): boolean {
  return verdict === "regressed" || verdict_as_counted === "regressed";
}

/** `difference` is the least possible one; if p is small, the greatest has the same sign. */
function verdictOf(difference: number, p: number): Verdict {
  if (p >= ALPHA) return "inconclusive";
  return difference > 0 ? "improved" : "regressed";
}

function explain(evidence: Evidence) {
  const { score, lows, highs, p, pAsCounted, pAlone = p, tests = 1, missing, failed } = evidence;
  const moved =
    lows.filter((low, index) => Math.max(Math.abs(low), Math.abs(highs[index]!)) > ROUNDING).length;
  if (moved === 0) return "no scenario differs";
  if (missing.baseline + missing.candidate > 0 && pAsCounted >= ALPHA) {
    return `values of ${score} are missing (${missing.baseline} in the baseline, ` +
      `${missing.candidate} in the candidate), and the verdict depends on them`;
  }
  if (pAsCounted < ALPHA) {
    const asCounted = formatP(pAsCounted).replace("<", "below");
    return `p is ${asCounted} if unanswered calls count 0 (${failed.baseline} in the ` +
      `baseline, ${failed.candidate} in the candidate), but their answers could change the verdict`;
  }
  // The smallest possible p-value: all differences have one sign, one of 2^(moved - 1) cases.
  const needed = Math.ceil(1 - Math.log2(ALPHA / tests));
  if (moved < needed) {
    const wanted = Math.ceil(lows.length * needed / moved);
    return `too few scenarios: ${moved} of ${lows.length} ${moved === 1 ? "differs" : "differ"}, ` +
      `and the test needs ${needed} that do; it takes about ${wanted} like these`;
  }
  if (pAlone < ALPHA) {
    return `p is ${formatP(pAlone).replace("<", "below")} alone, but not below ${ALPHA} among ` +
      `${counted(tests, "comparison")}` + describeNeeded(evidence);
  }
  return `too few scenarios (${lows.length}): a difference of this size is too likely by chance` +
    describeNeeded(evidence);
}

/** Why the candidate is not equal enough either, and how many scenarios would show that it is. */
function describeNotEqual(
  { lows, highs, level = ALPHA }: Evidence,
  { least, minDifference }: { least: number; minDifference: number },
): string {
  const text = `; nor is it shown that it is not worse by ${minDifference}: ` +
    `the interval begins at ${least.toFixed(3)}`;
  for (let times = 2; times * lows.length <= MOST_THOUGHT_OF; times++) {
    const repeat = (values: number[]) => Array.from({ length: times }, () => values).flat();
    const [low] = differenceInterval(repeat(lows), repeat(highs), level) ?? [-1];
    if (low > -minDifference) return `${text}; about ${times * lows.length} scenarios would`;
  }
  return text;
}

/** The most scenarios that are named: the interval is computed for each multiple. */
const MOST_THOUGHT_OF = 2_000;

/** How many scenarios it would take, if the difference and its spread are as they seem. */
function describeNeeded({ lows, highs, tests = 1 }: Evidence): string {
  const differences = lows.map((low, index) => (low + highs[index]!) / 2);
  const stdev = Math.sqrt(sampleVariance(differences) ?? 0);
  const difference = mean(differences)!;
  if (stdev === 0) return "";
  const needed = scenariosNeeded({
    difference,
    stdev,
    alpha: ALPHA / tests,
    step: stepOf(differences),
  });
  return needed === null ? "" : `; it takes about ${needed} like these`;
}
