import { mean } from "../../assess/mean.ts";
import { differenceInterval, type Interval, normalQuantile } from "../../results/mean_interval.ts";
import { type Attempts, shiftAttempts } from "./attempt_shift.ts";
import { signFlip, type TestOptions } from "./sign_flip.ts";

/** The description of the test in answers. */
export const METHOD = {
  test:
    "paired sign-flip permutation test over scenarios; if the runs differ in attempts, also a " +
    "permutation test of attempts within scenarios, and the larger p-value counts",
  null_hypothesis: "in every scenario the attempts of both runs come from the same distribution",
  interval:
    "the bounds of Learned-Miller and Thomas for the mean of the scenarios' differences, which lie " +
    "in [-1, 1]; 0 is in it exactly if the test does not reject",
} as const;

/**
 * Tests whether the candidate's mean over scenarios differs from the baseline's; returns the
 * p-value. The null hypothesis is that the models are equal: in every scenario the attempts of both
 * come from one distribution.
 *
 * With equally many attempts on both sides the differences of scenario means are then symmetric,
 * and sign flips are exact. They count scenarios, not attempts, so that a difference in some
 * scenarios that is reversed in others does not count as a general one.
 *
 * With unequal attempts the differences may be asymmetric. Then two tests must agree: the
 * permutation of attempts within scenarios, which is exact but does not generalise to other
 * scenarios, and the sign flips. The p-value is the larger one, so it is valid if either is.
 */
export async function permutationTest(
  scenarios: Attempts[],
  options: TestOptions,
): Promise<number> {
  const p = await signFlip(differencesOf(scenarios), options);
  const isBalanced = scenarios.every(({ baseline, candidate }) =>
    baseline.length === candidate.length
  );
  return isBalanced ? p : Math.max(p, await shiftAttempts(scenarios, options));
}

/** Candidate − baseline for each scenario. */
export function differencesOf(scenarios: Attempts[]): number[] {
  return scenarios.map(({ baseline, candidate }) => mean(candidate)! - mean(baseline)!);
}

/**
 * The interval of a mean difference that was tested at the level `alpha`. `lows` and `highs` are
 * the scenarios' differences, two lists if some are not known exactly. The interval for bounded
 * values allows for differences that were not observed; the test assumes equal models and rejects
 * earlier. To make them consistent, the test decides whether 0 is in the interval: if it rejects,
 * the end next to 0 is at least the test-based limit (Miettinen, 1976), which is 0 if p equals the
 * level.
 */
export function testedInterval(
  { lows, highs }: { lows: number[]; highs: number[] },
  { p, alpha }: { p: number; alpha: number },
): Interval | null {
  const interval = differenceInterval(lows, highs, alpha);
  if (!interval) return null;
  const [low, high] = interval;
  if (p >= alpha) return [Math.min(low, 0), Math.max(high, 0)];
  const share = 1 - normalQuantile(alpha / 2) / normalQuantile(p / 2);
  const [least, most] = [mean(lows)!, mean(highs)!];
  return least > 0 ? [Math.max(low, share * least), high] : [low, Math.min(high, share * most)];
}

/** One of several tests: its corrected p-value and its level. */
export interface CorrectedTest {
  p: number;
  level: number;
}

/**
 * Holm's step-down correction of several p-values. The chance that any of them is below α by chance
 * is at most α, whatever their dependence. A test's own p-value is below its level exactly if the
 * corrected one is below α, so an interval at that level agrees with it.
 */
export function holm(values: number[], alpha: number): CorrectedTest[] {
  const ascending = values.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const corrected = new Array<CorrectedTest>(values.length);
  let left = values.length; // tests that share the level
  let largest = 0;
  for (const [position, { p, index }] of ascending.entries()) {
    largest = Math.max(largest, Math.min(1, p * (values.length - position)));
    corrected[index] = { p: largest, level: alpha / left };
    if (largest < alpha) left--;
  }
  return corrected;
}
