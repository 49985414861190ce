import {
  type Attempts,
  differencesOf,
  permutationTest,
} from "../../../eval/figures/compare/statistics/permutation.ts";
import { ALPHA } from "../../../eval/figures/summary/mean_interval.ts";
import { createSampler, type Sampler } from "../../fakes/simulated_scores.ts";

/** One cell of the grid of real differences. */
export interface PowerCell {
  kind: string;
  /** How much better the candidate is on average. */
  better: number;
}

/** Shares of comparisons that found the difference. */
export interface PowerShares {
  /** By the test that decides a comparison. */
  found: number;
  /** By a paired t-test over the same scenarios. */
  foundByT: number;
}

export const POWER_SCENARIOS = 50;
const ATTEMPTS = 3;
/** Student's t for 49 degrees of freedom: 2.5 % lie above it. */
const T_LIMIT = 2.0096;
/** Standard deviations: of the difference between scenarios, and of an attempt. */
const SPREAD = 0.25;
const NOISE = 0.1;

/** The deviation of a scenario's difference from the mean difference, in standard deviations. */
const DEPARTURES: Record<string, (sampler: Sampler) => number> = {
  normal: ({ normal }) => normal(),
  uniform: ({ uniform }) => Math.sqrt(12) * (uniform() - 0.5),
  skewed: ({ uniform }) => -Math.log(uniform()) - 1,
  bimodal: ({ uniform }) => uniform() < 0.5 ? 1 : -1,
};

export const POWER_EFFECTS = [0.05, 0.1, 0.15];

export function powerGrid(): PowerCell[] {
  return Object.keys(DEPARTURES).flatMap((kind) =>
    POWER_EFFECTS.map((better) => ({ kind, better }))
  );
}

/** Compares many pairs of runs of 50 scenarios with 3 attempts each. */
export async function simulatePower(
  { kind, better }: PowerCell,
  { simulations, seed }: { simulations: number; seed: number },
): Promise<PowerShares> {
  const sampler = createSampler(seed);
  let found = 0;
  let foundByT = 0;
  for (let round = 0; round < simulations; round++) {
    const scenarios = Array.from({ length: POWER_SCENARIOS }, (): Attempts => {
      const own = better + SPREAD * DEPARTURES[kind]!(sampler);
      const around = (level: number) => () =>
        Math.min(1, Math.max(0, level + NOISE * sampler.normal()));
      return {
        baseline: Array.from({ length: ATTEMPTS }, around(0.45 - own / 2)),
        candidate: Array.from({ length: ATTEMPTS }, around(0.45 + own / 2)),
      };
    });
    const options = { seed: round, draws: 2000, pause: () => Promise.resolve() };
    if (await permutationTest(scenarios, options) < ALPHA) found++;
    if (Math.abs(studentT(differencesOf(scenarios))) > T_LIMIT) foundByT++;
  }
  return { found: found / simulations, foundByT: foundByT / simulations };
}

function studentT(values: number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return mean / Math.sqrt(squares / (values.length - 1) / values.length);
}
