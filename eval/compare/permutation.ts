import { unseenInterval } from "../results/mean_interval.ts";
import { type Attempts, shiftAttempts } from "./attempt_shift.ts";
import { signFlip, type TestOptions } from "./sign_flip.ts";
import type { TestResult } from "./spans.ts";

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
    "the shifts of the difference that the same test does not reject, within [-1, 1]; if a score " +
    "of 0 or 1 differs by the same 0, 1 or -1 in all scenarios, what so many do not rule out",
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
  const differences = scenarios.map(({ baseline, candidate }) => mean(candidate) - mean(baseline));
  const overScenarios = widenIfAlike(
    await signFlip(differences, options),
    scenarios,
    differences,
  );
  const isBalanced = scenarios.every(({ baseline, candidate }) =>
    baseline.length === candidate.length
  );
  if (isBalanced) return { ...overScenarios, pOfScenarios: overScenarios.p, pOfAttempts: null };
  const within = await shiftAttempts(scenarios, options);
  return {
    p: Math.max(overScenarios.p, within.p),
    interval: unite(overScenarios.interval, within.interval),
    isExact: overScenarios.isExact && within.isExact,
    pOfScenarios: overScenarios.p,
    pOfAttempts: within.p,
  };
}

/**
 * Passes and failures often differ alike in all scenarios, mostly not at all. That would give a single
 * value, such as [0, 0], as if no further scenario could be another.
 */
function widenIfAlike(
  result: TestResult,
  scenarios: Attempts[],
  differences: number[],
): TestResult {
  const [difference = 0] = differences;
  const isAlike = differences.every((other) => other === difference) &&
    [-1, 0, 1].includes(difference) &&
    scenarios.every(({ baseline, candidate }) => [...baseline, ...candidate].every(isOutcome));
  if (!isAlike || !result.interval) return result;
  return { ...result, interval: unseenInterval(difference, differences.length) };
}

const isOutcome = (value: number) => value === 0 || value === 1;

function unite(
  one: [number, number] | null,
  other: [number, number] | null,
): [number, number] | null {
  return one && other && [Math.min(one[0], other[0]), Math.max(one[1], other[1])];
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
