import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { Attempts } from "../../../eval/compare/statistics/attempt_shift.ts";
import { normalCdf, normalQuantile } from "../../../eval/results/normal.ts";
import { permutationTest } from "../../../eval/compare/statistics/permutation.ts";
import {
  detectableDifference,
  scenariosNeeded,
} from "../../../eval/compare/statistics/planning.ts";
import { describeDifferences } from "../../bench/trust/planned.ts";
import { createSampler, SCORE_KINDS } from "../../fakes/simulated_scores.ts";

Deno.test("the normal distribution is that of the tables", () => {
  // Abramowitz and Stegun, table 26.1.
  assertAlmostEquals(normalCdf(1), 0.841344746068543, 1e-14);
  assertAlmostEquals(normalCdf(-2.5), 0.00620966532577613, 1e-14);
  assertAlmostEquals(normalQuantile(0.975), 1.959963984540054, 1e-12);
  assertAlmostEquals(normalQuantile(0.8), 0.8416212335729143, 1e-12);
});

Deno.test("for many scenarios the number is that of the textbook: ((z of α/2 + z of power) σ / δ)²", () => {
  const needed = scenariosNeeded({ difference: 0.02, stdev: 0.2, alpha: 0.05 })!;
  const textbook = ((1.96 + 0.8416) * 0.2 / 0.02) ** 2;
  assert(Math.abs(needed / textbook - 1) < 0.01, `${needed}, not ${textbook}`);
  assertEquals(scenariosNeeded({ difference: 0, stdev: 0.2, alpha: 0.05 }), null);
  assertEquals(scenariosNeeded({ difference: 0.1, stdev: 0, alpha: 0.05 }), 6);
});

Deno.test("a difference that a billion scenarios do not show has no plan", () => {
  const most = scenariosNeeded({ difference: 1e-4, stdev: 1, alpha: 0.05 })!;
  assert(most > 7.8e8 && most < 7.9e8, `${most}`);
  for (const difference of [1e-5, 1e-8, 1e-300]) {
    assertEquals(scenariosNeeded({ difference, stdev: 1, alpha: 0.05 }), null, `${difference}`);
  }
});

Deno.test("the difference that a number of scenarios shows is the one that needs this number", () => {
  for (const scenarios of [8, 30, 400]) {
    const difference = detectableDifference({ scenarios, stdev: 0.1, alpha: 0.05 })!;
    assertEquals(scenariosNeeded({ difference, stdev: 0.1, alpha: 0.05 }), scenarios);
  }
  assertEquals(detectableDifference({ scenarios: 5, stdev: 0.1, alpha: 0.05 }), null);
});

/** Shapes of scores, how much better the candidate is, and the step of their differences. */
const SHAPES: [kind: string, better: number, attempts: number, step: number][] = [
  ["continuous", 0.06, 1, 0],
  ["continuous", 0.06, 3, 0],
  ["skewed", -0.05, 1, 0],
  ["rare misses", -0.25, 1, 1],
  ["rare misses", -0.25, 3, 1 / 3],
  ["ordinal", -0.15, 1, 0.25],
  ["ties", -0.2, 3, 1 / 15],
  ["failures", 0.2, 1, 0],
];
const SIMULATIONS = 300;
/** Three standard errors. */
const TOLERANCE = 3 * Math.sqrt(0.8 * 0.2 / SIMULATIONS);

for (const [kind, better, attempts, step] of SHAPES) {
  Deno.test(`so many scenarios as planned show the difference in about 80 % of comparisons: ${kind}, ${attempts} attempts`, async () => {
    const sampler = createSampler(11);
    const draw = (): Attempts => {
      const attempt = SCORE_KINDS[kind]!(sampler, { noise: 1 });
      return {
        baseline: Array.from({ length: attempts }, () => attempt()),
        candidate: Array.from({ length: attempts }, () => attempt(better)),
      };
    };
    const { difference, stdev } = describeDifferences(Array.from({ length: 40_000 }, draw));
    const needed = scenariosNeeded({ difference, stdev, alpha: 0.05, step })!;
    let found = 0;
    for (let round = 0; round < SIMULATIONS; round++) {
      const scenarios = Array.from({ length: needed }, draw);
      const options = { seed: round, pause: () => Promise.resolve(), draws: 400 };
      if (await permutationTest(scenarios, options) < 0.05) found++;
    }
    const power = found / SIMULATIONS;
    assert(Math.abs(power - 0.8) <= TOLERANCE, `${power} with ${needed} scenarios`);
  });
}
