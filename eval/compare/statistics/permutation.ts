import { mean } from "../../assess/mean.ts";
import { differenceInterval, type Interval, normalQuantile } from "../../results/mean_interval.ts";
import { type Attempts, shiftAttempts } from "./attempt_shift.ts";
import { signFlip, type TestOptions } from "./sign_flip.ts";

/** What the test supposes and does, in words for the answer. */
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
 * Tests whether the candidate's mean over scenarios differs from the baseline's; returns the p-value.
 * The null hypothesis is that the models are equal: in every scenario the attempts of both come from
 * one distribution.
 *
 * With equally many attempts on both sides the differences of scenario means are then symmetric,
 * and sign flips are exact. They count scenarios, not attempts, so a difference that holds for
 * some of the scenarios only, and is reversed in others, is not taken for one in general.
 *
 * With unequal attempts the differences need not be symmetric. Then two tests must agree: the
 * permutation of attempts within scenarios, which is exact there but says nothing about other
 * scenarios, and the sign flips. The p-value is the larger, so it is valid as soon as one is.
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

/** Candidate − baseline, by scenario. */
export function differencesOf(scenarios: Attempts[]): number[] {
  return scenarios.map(({ baseline, candidate }) => mean(candidate)! - mean(baseline)!);
}

/**
 * The interval of a mean difference that was tested at the level `alpha`. `lows` and `highs` are the
 * scenarios' differences, two lists if some are not known exactly. The interval of the mean of bounded
 * values reckons with differences that were not seen; the test supposes equal models and rejects
 * sooner. So that they never disagree, 0 is in or out by the test: if it rejects, the end next to 0
 * is at least the test-based limit (Miettinen, 1976), which is 0 if p equals the level.
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

/** One of several tests: its corrected p-value, and the level that it is held to. */
export interface CorrectedTest {
  p: number;
  level: number;
}

/**
 * Holm's step-down correction: what each of several p-values is worth when all were looked at. The
 * chance that any of them falls below α by luck is at most α, however they depend on one another. A
 * test's own p-value is below its level exactly if the corrected one is below α, so an interval at
 * that level agrees with it.
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
