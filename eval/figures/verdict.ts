import { counted } from "../../shared/service/text.ts";
import { mean, sampleVariance } from "../score/mean.ts";
import { ALPHA, differenceInterval } from "./summary/mean_interval.ts";
import type { Evidence, TestedScore } from "./compare/compare_scores.ts";
import type { ScoreVerdict, Verdict } from "./comparison.ts";
import { testedInterval } from "./compare/statistics/permutation.ts";
import { scenariosNeeded, stepOf } from "./compare/statistics/planning.ts";
import { formatP, ROUNDING } from "../test/rounding.ts";

/**
 * The verdict on two runs, or the reason why it is inconclusive. A verdict must hold with the turns
 * that failed or lack the score, which count 0, and without them.
 */
export function decideVerdict(
  { score, means: { missing, failed } }: TestedScore,
  { counted, known, scored, minDifference = 0 }: {
    counted: Evidence;
    known: Evidence;
    scored: Evidence;
    minDifference?: number;
  },
): ScoreVerdict {
  const verdict = verdictOf(counted, minDifference);
  const withoutGaps = verdictOf(known, minDifference);
  if (verdict === "inconclusive") {
    return { verdict, reason: explain(counted) + describeNotEqual(counted, minDifference) };
  }
  if (verdict === withoutGaps) return { verdict, reason: null };
  const turns = Object.entries({ failed, "without a score": missing }).flatMap(([what, count]) =>
    count
      ? [`${count.baseline} of the baseline and ${count.candidate} of the candidate ${what}`]
      : []
  );
  return {
    verdict: "inconclusive",
    reason: `${verdict} by ${score} if turns without it count 0 (${turns.join("; ")}), ` +
      `${withoutGaps} without them: retry the run to fill them`,
    verdict_as_counted: verdictOf(scored, minDifference),
  };
}

function verdictOf({ differences, p, corrected }: Evidence, minDifference: number): Verdict {
  const difference = mean(differences) ?? 0;
  const isShown = corrected.p < ALPHA;
  const isLarge = isShown && difference >= minDifference - ROUNDING && difference > 0;
  const least = testedInterval(differences, { p, alpha: corrected.level })?.[0] ?? -1;
  if (minDifference > 0 && !isLarge && least > -minDifference) return "equal_enough";
  if (!isShown) return "inconclusive";
  return difference > 0 ? "improved" : "regressed";
}

/** The verdict if the deciding score was not compared. */
export function undecidable(score: string, why: string): ScoreVerdict {
  return { verdict: "inconclusive", reason: `${score} cannot be compared: ${why}` };
}

/**
 * Whether a comparison fails a build. An endpoint that does not answer must not pass as not shown
 * to be worse; a judge that does not answer says nothing of the model.
 */
export function isRegression({ verdict, verdict_as_counted = verdict }: ScoreVerdict): boolean {
  return verdict === "regressed" || verdict_as_counted === "regressed";
}

function explain({ differences, p, corrected, tests }: Evidence): string {
  const moved = differences.filter((difference) => Math.abs(difference) > ROUNDING).length;
  if (moved === 0) return "no scenario differs";
  // The smallest possible p-value: all differences have one sign, one of 2^(moved - 1) cases.
  const needed = Math.ceil(1 - Math.log2(ALPHA / tests));
  if (moved < needed) {
    const wanted = Math.ceil(differences.length * needed / moved);
    return `too few scenarios: ${moved} of ${differences.length} ` +
      `${moved === 1 ? "differs" : "differ"}, and the test needs ${needed} that do; ` +
      `it takes about ${wanted} like these`;
  }
  if (p < ALPHA && corrected.p >= ALPHA) {
    return `p is ${formatP(p).replace("<", "below")} alone, but not below ${ALPHA} among ` +
      `${counted(tests, "comparison")}` + describeNeeded(differences, tests);
  }
  return `too few scenarios (${differences.length}): a difference of this size is too likely by ` +
    "chance" + describeNeeded(differences, tests);
}

/** Why the candidate is not equal enough either, and how many scenarios would show that it is. */
function describeNotEqual(
  { differences, p, corrected: { level } }: Evidence,
  minDifference: number,
): string {
  if (minDifference === 0) return "";
  const least = testedInterval(differences, { p, alpha: level })?.[0] ?? -1;
  const text = `; nor is it shown that it is not worse by ${minDifference}: ` +
    `the interval begins at ${least.toFixed(3)}`;
  for (let times = 2; times * differences.length <= MOST_THOUGHT_OF; times++) {
    const repeated = Array.from({ length: times }, () => differences).flat();
    const [low] = differenceInterval(repeated, level) ?? [-1];
    if (low > -minDifference) return `${text}; about ${repeated.length} scenarios would`;
  }
  return text;
}

/** The most scenarios that are named: the interval is computed for each multiple. */
const MOST_THOUGHT_OF = 2_000;

/** How many scenarios it would take, if the difference and its spread are as they seem. */
function describeNeeded(differences: number[], tests: number): string {
  const stdev = Math.sqrt(sampleVariance(differences) ?? 0);
  if (stdev === 0) return "";
  const difference = mean(differences)!;
  const needed = scenariosNeeded({
    difference,
    stdev,
    alpha: ALPHA / tests,
    step: stepOf(differences),
  });
  return needed === null ? "" : `; it takes about ${needed} like these`;
}
