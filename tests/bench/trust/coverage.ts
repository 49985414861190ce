import { aggregateScores } from "../../../eval/results/statistics.ts";
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

/** `binary`: passes and failures, of which a scenario has more or fewer of its own. */
const KINDS: Record<string, BoundedKind> = Object.fromEntries([
  ...[0.5, 0.8, 0.9, 0.95].flatMap((p): [string, BoundedKind][] => [
    [`binary, p = ${p}`, {
      mean: p,
      scenario: ({ uniform }) => () => Number(uniform() < p),
    }],
    [`binary, p = ${p}, scenarios differ`, {
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
  ["ordinal", {
    mean: ORDINAL.reduce((sum, [value, share]) => sum + value * share, 0),
    scenario: ({ uniform }) => () => {
      let rest = uniform();
      return ORDINAL.find(([, share]) => (rest -= share) < 0)?.[0] ?? 1;
    },
  }],
]);

export function coverageGrid(): CoverageCell[] {
  return Object.keys(KINDS).flatMap((kind) =>
    [1, 3, 10].flatMap((attempts) =>
      [5, 10, 20, 40].map((scenarios) => ({ kind, scenarios, attempts }))
    )
  ).filter(({ kind, attempts }) => attempts > 1 || !kind.endsWith("differ")); // the same there
}

/** The share of simulated runs whose `ci95` holds the true mean; by way of the answer's statistics. */
export function simulateCoverage(
  { kind, scenarios, attempts }: CoverageCell,
  { simulations, seed }: { simulations: number; seed: number },
): number {
  const sampler = createSampler(seed);
  const { mean, scenario } = KINDS[kind]!;
  let covered = 0;
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
    if (low <= mean && mean <= high) covered++;
  }
  return covered / simulations;
}
