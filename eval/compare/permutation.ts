import { mean } from "../assess/mean.ts";
import { differenceInterval, spreadOf, unseenInterval } from "../results/mean_interval.ts";
import { type Attempts, shiftAttempts } from "./attempt_shift.ts";
import { signFlip, type TestOptions } from "./sign_flip.ts";
import { ALPHA, type TestResult } from "./spans.ts";

type Interval = [number, number];

/** What the test says, and what its parts say by themselves. */
export interface PermutationResult extends TestResult {
  /** Of sign flips over the scenarios. */
  pOfScenarios: number;
  /** Of shifts of attempts within them; `null` if both runs have equally many everywhere. */
  pOfAttempts: number | null;
}

/** What the test supposes and does, in words for the answer. */
export const METHOD = {
  test:
    "paired sign-flip permutation test over scenarios; if the runs differ in attempts, also a " +
    "permutation test of attempts within scenarios, and the larger p-value counts",
  null_hypothesis: "in every scenario the attempts of both runs come from the same distribution",
  interval:
    "the shifts of the difference that the same test does not reject, and what the mean of so many " +
    "differences does not rule out, within [-1, 1]; 0 is in it exactly if p is above 0.05",
} as const;

/**
 * Tests whether the candidate's mean over scenarios differs from the baseline's. The null hypothesis
 * is that the models are equal: in every scenario the attempts of both come from one distribution.
 *
 * With equally many attempts on both sides the differences of scenario means are then symmetric,
 * and sign flips are exact. They count scenarios, not attempts, so a difference that holds for
 * some of the scenarios only, and is reversed in others, is not taken for one in general.
 *
 * With unequal attempts the differences need not be symmetric. Then two tests must agree: the
 * permutation of attempts within scenarios, which is exact there but says nothing about other
 * scenarios, and the sign flips. The p-value is the larger, so it is valid as soon as one is, and
 * the interval is the union of both, so it leaves 0 out exactly if the p-value is at most 0.05.
 */
export async function permutationTest(
  scenarios: Attempts[],
  options: TestOptions,
): Promise<PermutationResult> {
  const differences = scenarios.map(({ baseline, candidate }) =>
    mean(candidate)! - mean(baseline)!
  );
  const overScenarios = await signFlip(differences, options);
  const isBalanced = scenarios.every(({ baseline, candidate }) =>
    baseline.length === candidate.length
  );
  const within = isBalanced ? null : await shiftAttempts(scenarios, options);
  const p = Math.max(overScenarios.p, within?.p ?? 0);
  const { interval } = overScenarios;
  const tested = within
    ? interval && within.interval && unite(interval, within.interval)
    : interval;
  return {
    p,
    interval: tested && widen(tested, { by: likelyInterval(scenarios, differences), p }),
    isExact: overScenarios.isExact && within?.isExact !== false,
    pOfScenarios: overScenarios.p,
    pOfAttempts: within?.p ?? null,
  };
}

/**
 * Sign flips rearrange the differences that there are. Of few passes and failures these are 0 and a
 * few ±1, and the shifts that the test does not reject hold the true difference in as little as
 * 80 % of comparisons. So the interval of a mean of such values is added. Only 0 stays in or out by
 * the test: interval and p-value never disagree.
 */
function widen(
  tested: Interval,
  { by, p }: { by: Interval; p: number },
): Interval {
  const [low, high] = unite(tested, by);
  if (p > ALPHA) return [low, high];
  return tested[0] > 0 ? [low > 0 ? low : tested[0], high] : [low, high < 0 ? high : tested[1]];
}

/**
 * Passes and failures often differ alike in all scenarios, mostly not at all. That would give a
 * narrow interval around 0, as if no further scenario could be another.
 */
function likelyInterval(scenarios: Attempts[], differences: number[]): Interval {
  const [difference = 0] = differences;
  const isAlike = differences.every((other) => other === difference) &&
    [-1, 0, 1].includes(difference) &&
    scenarios.every(({ baseline, candidate }) => [...baseline, ...candidate].every(isOutcome));
  return isAlike
    ? unseenInterval(difference, differences.length)
    : differenceInterval(spreadOf(differences.map((own) => [own])));
}

const isOutcome = (value: number) => value === 0 || value === 1;

function unite(one: Interval, other: Interval): Interval {
  return [Math.min(one[0], other[0]), Math.max(one[1], other[1])];
}
