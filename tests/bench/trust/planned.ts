import {
  type Attempts,
  permutationTest,
} from "../../../eval/figures/compare/statistics/permutation.ts";
import {
  scenariosNeeded,
  stepOfDifferences,
} from "../../../eval/figures/compare/statistics/planning.ts";
import { ALPHA } from "../../../eval/figures/summary/mean_interval.ts";
import { createSampler, SCORE_KINDS } from "../../fakes/simulated_scores.ts";

/** One cell of the grid of plans. */
export interface PlannedCell {
  kind: string;
  /** How much better the candidate is. */
  better: number;
  attempts: number;
}

/** How many scenarios were planned, and how often that many show the difference. */
export interface PlannedPower {
  scenarios: number;
  found: number;
}

/** More would take minutes for one cell. */
export const MOST_SCENARIOS = 100;
/** Scenarios that the true mean and spread of the differences are taken from. */
const TRUTH = 100_000;
const DRAWS = 401;

const EFFECTS: Record<string, number[]> = {
  continuous: [0.06, 0.1],
  skewed: [-0.05, -0.1],
  "rare misses": [-0.1, -0.25, -0.5],
  ordinal: [-0.15, -0.06],
  ties: [-0.2, -0.5],
  failures: [0.08, 0.2],
};

export function plannedGrid(): PlannedCell[] {
  return Object.entries(EFFECTS).flatMap(([kind, effects]) =>
    effects.flatMap((better) => [1, 3].map((attempts) => ({ kind, better, attempts })))
  );
}

/** Plans with the true mean and spread of the differences, then compares as many scenarios. */
export async function simulatePlanned(
  { kind, better, attempts }: PlannedCell,
  { simulations, seed }: { simulations: number; seed: number },
): Promise<PlannedPower> {
  const sampler = createSampler(seed);
  const draw = (): Attempts => {
    const attempt = SCORE_KINDS[kind]!(sampler, { noise: 1 });
    return {
      baseline: Array.from({ length: attempts }, () => attempt()),
      candidate: Array.from({ length: attempts }, () => attempt(better)),
    };
  };
  const drawn = Array.from({ length: TRUTH }, draw);
  const { difference, stdev } = describeDifferences(drawn);
  const step = stepOfDifferences(drawn.map(({ baseline }) => baseline));
  const scenarios = scenariosNeeded({ difference, stdev, alpha: ALPHA, step })!;
  if (scenarios > MOST_SCENARIOS) return { scenarios, found: NaN };
  const options = { pause: () => Promise.resolve(), draws: DRAWS };
  let found = 0;
  for (let round = 0; round < simulations; round++) {
    const pairs = Array.from({ length: scenarios }, draw);
    if (await permutationTest(pairs, { ...options, seed: round }) < ALPHA) found++;
  }
  return { scenarios, found: found / simulations };
}

/** The mean and the spread of the differences of scenarios. */
export function describeDifferences(
  scenarios: Attempts[],
): { difference: number; stdev: number } {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const differences = scenarios.map((own) => mean(own.candidate) - mean(own.baseline));
  const difference = mean(differences);
  const stdev = Math.sqrt(mean(differences.map((value) => (value - difference) ** 2)));
  return { difference, stdev };
}
