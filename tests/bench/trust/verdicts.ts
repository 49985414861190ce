import { type Attempts } from "../../../eval/compare/attempt_shift.ts";
import { differencesOf, permutationTest } from "../../../eval/compare/permutation.ts";
import { signFlip } from "../../../eval/compare/sign_flip.ts";
import { ALPHA } from "../../../eval/results/mean_interval.ts";
import { createSampler, SCORE_KINDS } from "../../fakes/simulated_scores.ts";

/** One cell of the grid of comparisons. */
export interface VerdictCell {
  kind: string;
  scenarios: number;
  attempts: [baseline: number, candidate: number];
  /** Whether every second scenario is noisier. */
  isUneven: boolean;
  /** How much better the candidate is: 0 counts false alarms, more counts power. */
  better: number;
}

/** Shares of comparisons that found a difference. */
export interface VerdictShares {
  /** By the service's test. */
  found: number;
  /** By sign flips alone, whatever the attempts: the test of earlier versions. */
  foundBySigns: number;
}

export const ATTEMPTS: [number, number][] = [[1, 1], [3, 3], [3, 2], [3, 1], [5, 1], [10, 1], [
  20,
  1,
]];
export const SCENARIOS = [5, 10, 20, 40];

/** Every cell with equal models. */
export function verdictGrid(): VerdictCell[] {
  return Object.keys(SCORE_KINDS).flatMap((kind) =>
    ATTEMPTS.flatMap((attempts) =>
      SCENARIOS.flatMap((scenarios) =>
        [false, true].map((isUneven) => ({ kind, scenarios, attempts, isUneven, better: 0 }))
      )
    )
  );
}

/** Compares many pairs of simulated runs. A smaller sample of permutations is as exact, not finer. */
export async function simulateVerdicts(
  cell: VerdictCell,
  { simulations, seed, draws = 1000 }: { simulations: number; seed: number; draws?: number },
): Promise<VerdictShares> {
  const sampler = createSampler(seed);
  const options = { pause: () => Promise.resolve(), draws };
  let found = 0;
  let foundBySigns = 0;
  for (let round = 0; round < simulations; round++) {
    const scenarios = Array.from({ length: cell.scenarios }, (_, index): Attempts => {
      const noise = cell.isUneven && index % 2 === 1 ? 3 : 1;
      const attempt = SCORE_KINDS[cell.kind]!(sampler, { noise });
      return {
        baseline: Array.from({ length: cell.attempts[0] }, () => attempt()),
        candidate: Array.from({ length: cell.attempts[1] }, () => attempt(cell.better)),
      };
    });
    const drawn = { ...options, seed: round };
    if (await permutationTest(scenarios, drawn) < ALPHA) found++;
    if (await signFlip(differencesOf(scenarios), drawn) < ALPHA) foundBySigns++;
  }
  return { found: found / simulations, foundBySigns: foundBySigns / simulations };
}
