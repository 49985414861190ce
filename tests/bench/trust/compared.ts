import {
  differencesOf,
  permutationTest,
  testedInterval,
} from "../../../eval/figures/compare/statistics/permutation.ts";
import { ALPHA } from "../../../eval/figures/summary/mean_interval.ts";
import type { CoverageShares } from "./coverage.ts";
import { createSampler, type Sampler } from "../../fakes/simulated_scores.ts";

/** One cell of the grid of intervals of differences. */
export interface ComparedCell {
  kind: string;
  scenarios: number;
  attempts: number;
}

/** Two models with a known difference: the score of an attempt of each at one more scenario. */
interface ComparedKind {
  difference: number;
  scenario: (sampler: Sampler) => { baseline: () => number; candidate: () => number };
}

const passes = (before: number, now: number): ComparedKind => ({
  difference: now - before,
  scenario: ({ uniform }) => ({
    baseline: () => Number(uniform() < before),
    candidate: () => Number(uniform() < now),
  }),
});

const KINDS: Record<string, ComparedKind> = {
  "passes, 0.98 and 0.9": passes(0.98, 0.9),
  "passes, 0.9 and 0.7": passes(0.9, 0.7),
  "passes, 0.5 and 0.8": passes(0.5, 0.8),
  /** Each attempt at a scenario has the same outcome. */
  "passes, 20 % better, 5 % worse": {
    difference: 0.15,
    scenario({ uniform }) {
      const draw = uniform();
      return { baseline: () => Number(draw >= 0.2), candidate: () => Number(draw < 0.95) };
    },
  },
  continuous: {
    difference: 0.1,
    scenario({ normal }) {
      const own = 0.1 + 0.03 * normal();
      return {
        baseline: () => 0.4 + 0.08 * normal(),
        candidate: () => 0.4 + own + 0.08 * normal(),
      };
    },
  },
  skewed: {
    difference: -0.1,
    scenario: ({ beta }) => ({ baseline: () => beta(9, 1), candidate: () => beta(4, 1) }),
  },
  "1, seldom less": {
    difference: -0.075,
    scenario: ({ uniform }) => ({
      baseline: () => 1,
      candidate: () => uniform() < 0.15 ? uniform() : 1,
    }),
  },
  /** Half of the scenarios are hard, and the candidate is better at these. */
  bimodal: {
    difference: 0.1,
    scenario({ uniform, normal }) {
      const isHard = uniform() < 0.5;
      const near = (level: number) => Math.min(1, Math.max(0, level + 0.03 * normal()));
      return {
        baseline: () => near(isHard ? 0.1 : 0.9),
        candidate: () => near(isHard ? 0.3 : 0.9),
      };
    },
  },
  "0.8, seldom 0": {
    difference: -0.08,
    scenario({ uniform, normal }) {
      const score = (zeros: number) => uniform() < zeros ? 0 : 0.8 + 0.05 * normal();
      return { baseline: () => score(0.05), candidate: () => score(0.15) };
    },
  },
};

export const COMPARED_SCENARIOS = [5, 8, 12, 20, 30];

export function comparedGrid(): ComparedCell[] {
  return Object.keys(KINDS).flatMap((kind) =>
    [1, 3].flatMap((attempts) =>
      COMPARED_SCENARIOS.map((scenarios) => ({ kind, scenarios, attempts }))
    )
  );
}

/** The share of simulated comparisons whose `ci95` holds the true difference, and its mean width. */
export async function simulateCompared(
  { kind, scenarios, attempts }: ComparedCell,
  { simulations, seed, draws }: { simulations: number; seed: number; draws: number },
): Promise<CoverageShares> {
  const sampler = createSampler(seed);
  const { difference, scenario } = KINDS[kind]!;
  const pause = () => Promise.resolve();
  let covered = 0;
  let width = 0;
  for (let round = 0; round < simulations; round++) {
    const runs = Array.from({ length: scenarios }, () => {
      const { baseline, candidate } = scenario(sampler);
      return {
        baseline: Array.from({ length: attempts }, baseline),
        candidate: Array.from({ length: attempts }, candidate),
      };
    });
    const p = await permutationTest(runs, { seed: round, draws, pause });
    const differences = differencesOf(runs);
    const [low, high] = testedInterval(differences, {
      p,
      alpha: ALPHA,
    })!;
    width += (high - low) / simulations;
    if (low <= difference + 1e-9 && difference - 1e-9 <= high) covered++;
  }
  return { covered: covered / simulations, width };
}
