import {
  type Attempts,
  permutationTest,
} from "../../../eval/figures/compare/statistics/permutation.ts";
import { ALPHA } from "../../../eval/figures/summary/mean_interval.ts";
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

export const ATTEMPTS: [number, number][] = [[1, 1], [3, 3], [3, 2], [10, 1]];
const SCENARIOS = [10, 20, 40];

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

/**
 * The share of simulated comparisons that find a difference, by the service's test unless `test` is
 * set. A smaller sample of permutations is as exact but coarser.
 */
export async function simulateVerdicts(
  cell: VerdictCell,
  { simulations, seed, draws = 1000, test = permutationTest }: {
    simulations: number;
    seed: number;
    draws?: number;
    test?: typeof permutationTest;
  },
): Promise<number> {
  const sampler = createSampler(seed);
  const options = { pause: () => Promise.resolve(), draws };
  let found = 0;
  for (let round = 0; round < simulations; round++) {
    const scenarios = Array.from({ length: cell.scenarios }, (_, index): Attempts => {
      const noise = cell.isUneven && index % 2 === 1 ? 3 : 1;
      const attempt = SCORE_KINDS[cell.kind]!(sampler, { noise });
      return {
        baseline: Array.from({ length: cell.attempts[0] }, () => attempt()),
        candidate: Array.from({ length: cell.attempts[1] }, () => attempt(cell.better)),
      };
    });
    if (await test(scenarios, { ...options, seed: round }) < ALPHA) found++;
  }
  return found / simulations;
}
