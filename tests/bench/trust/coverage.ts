import { aggregateScores } from "../../../eval/figures/summary/statistics.ts";
import { aggregateScenarios } from "../../fakes/whole_results.ts";
import { createSampler, type Sampler } from "../../fakes/simulated_scores.ts";

/** One cell of the grid of intervals. */
export interface CoverageCell {
  kind: string;
  scenarios: number;
  attempts: number;
}

/** A kind of scores with a known mean: draws a scenario, which gives the score of an attempt. */
interface BoundedKind {
  mean: number;
  scenario: (sampler: Sampler) => () => number;
}

const ORDINAL: [value: number, share: number][] = [
  [0, 0.05],
  [0.25, 0.05],
  [0.5, 0.1],
  [0.75, 0.2],
  [1, 0.6],
];

/** In a cluster the attempts at a scenario tend to pass or fail together. */
const KINDS: Record<string, BoundedKind> = Object.fromEntries([
  ...[0.5, 0.9, 0.95].flatMap((p): [string, BoundedKind][] => [
    [`passes, p = ${p}`, {
      mean: p,
      scenario: ({ uniform }) => () => Number(uniform() < p),
    }],
    [`passes in clusters, p = ${p}`, {
      mean: p,
      scenario({ uniform, beta }) {
        const own = beta(4 * p, 4 * (1 - p));
        return () => Number(uniform() < own);
      },
    }],
  ]),
  ["continuous", {
    mean: 0.5,
    scenario({ beta }) {
      const own = beta(4, 4);
      return () => beta(20 * own, 20 * (1 - own));
    },
  }],
  ["skewed", {
    mean: 0.9,
    scenario({ beta }) {
      const own = Math.min(1 - 1e-6, beta(9, 1));
      return () => beta(20 * own, 20 * (1 - own));
    },
  }],
  ["bimodal", {
    mean: 0.66,
    scenario({ uniform, normal }) {
      const level = uniform() < 0.7 ? 0.9 : 0.1;
      return () => level + 0.02 * Math.max(-1, Math.min(1, normal()));
    },
  }],
  ...[[0.05, "one in twenty"], [0.1, "one in ten"], [0.25, "one in four"]].map((
    [share, words],
  ): [string, BoundedKind] => [`0.85, ${words} 0`, {
    mean: 0.85 * (1 - Number(share)),
    scenario: ({ uniform, normal }) => () =>
      uniform() < Number(share) ? 0 : 0.85 + 0.03 * Math.max(-2, Math.min(2, normal())),
  }]),
  ["ordinal", {
    mean: ORDINAL.reduce((sum, [value, share]) => sum + value * share, 0),
    scenario: ({ uniform }) => () => {
      let rest = uniform();
      return ORDINAL.find(([, share]) => (rest -= share) < 0)?.[0] ?? 1;
    },
  }],
]);

export const COVERED_SCENARIOS = [5, 8, 12, 20, 30];

export function coverageGrid(): CoverageCell[] {
  return Object.keys(KINDS).flatMap((kind) =>
    [1, 3].flatMap((attempts) =>
      COVERED_SCENARIOS.map((scenarios) => ({ kind, scenarios, attempts }))
    )
  ).filter(({ kind, attempts }) => attempts > 1 || !kind.includes("clusters")); // the same there
}

/** The share of intervals that hold the truth, and their mean width. */
export interface CoverageShares {
  covered: number;
  width: number;
}

/** Simulated runs; their `ci95` by way of the answer's statistics. */
export function simulateCoverage(
  { kind, scenarios, attempts }: CoverageCell,
  { simulations, seed }: { simulations: number; seed: number },
): CoverageShares {
  const sampler = createSampler(seed);
  const { mean, scenario } = KINDS[kind]!;
  const shares = { covered: 0, width: 0 };
  for (let round = 0; round < simulations; round++) {
    const run = Array.from({ length: scenarios }, () => {
      const attempt = scenario(sampler);
      return aggregateScores(
        Array.from(
          { length: attempts },
          (_, cluster) => ({ scores: { x: attempt() }, failed: false, cluster }),
        ),
      ).statistics;
    });
    const [low, high] = aggregateScenarios(run).statistics.x!.ci95!;
    shares.width += (high - low) / simulations;
    if (low <= mean + 1e-9 && mean - 1e-9 <= high) shares.covered += 1 / simulations;
  }
  return shares;
}
