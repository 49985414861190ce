import { assert, assertEquals } from "@std/assert";
import {
  differencesOf,
  permutationTest,
  signFlips,
} from "../../../../eval/figures/compare/statistics/permutation.ts";
import { simulateVerdicts, type VerdictCell } from "../../../bench/trust/verdicts.ts";
import { recordedRun, type RecordedScenario } from "../../../fakes/recorded_run.ts";
import { createSampler, SCORE_KINDS } from "../../../fakes/simulated_scores.ts";
import { compareTwo } from "../../../fakes/compare_two.ts";

/** The most important cells; `deno task bench trust` goes through the whole grid. */
const SIMULATIONS = 400;
/** Three standard errors above 5 %. */
const HIGHEST = 0.05 + 3 * Math.sqrt(0.05 * 0.95 / SIMULATIONS);

const simulate = (cell: Omit<VerdictCell, "isUneven">, test?: typeof permutationTest) =>
  simulateVerdicts({ ...cell, isUneven: false }, {
    ...{ simulations: SIMULATIONS, seed: 5, draws: 200 },
    ...(test && { test }),
  });

/** Whatever the numbers of attempts. */
const signsAlone: typeof permutationTest = async (runs, options) =>
  (await signFlips([differencesOf(runs)], options))[0]!;

for (
  const [kind, attempts, scenarios] of [
    ["continuous", [1, 1], 10],
    ["continuous", [3, 3], 20],
    ["continuous", [3, 2], 10],
    ["skewed", [10, 1], 10],
    ["rare misses", [5, 1], 20],
    ["rare misses", [10, 1], 10],
    ["rare misses", [20, 1], 10],
    ["ordinal", [1, 5], 20],
    ["ties", [20, 1], 10],
    ["failures", [10, 1], 20],
  ] as [string, [number, number], number][]
) {
  Deno.test(`equal models differ by chance in at most 5 % of comparisons: ${kind}, attempts ${attempts.join(" to ")}, ${scenarios} scenarios`, async () => {
    const found = await simulate({ kind, attempts, scenarios, better: 0 });
    assert(found <= HIGHEST, `${(found * 100).toFixed(1)} % found something`);
  });
}

Deno.test("sign flips alone would find rare misses in too many comparisons of equal models", async () => {
  const cell = { kind: "rare misses", attempts: [10, 1] as [number, number], scenarios: 10 };
  const found = await simulate({ ...cell, better: 0 }, signsAlone);
  assert(found > 0.15, `${found}`);
});

Deno.test("with equally many attempts nothing is lost against sign flips, and differences are found", async () => {
  for (const attempts of [[1, 1], [3, 3]] as [number, number][]) {
    const cell = { kind: "continuous", attempts, scenarios: 20, better: 0.08 };
    const found = await simulate(cell);
    assertEquals(found, await simulate(cell, signsAlone));
    assert(found > 0.8, `${(found * 100).toFixed(1)} % found it`);
  }
});

Deno.test("with unequal attempts a real difference is found", async () => {
  const cell = { kind: "rare misses", attempts: [10, 1] as [number, number], scenarios: 20 };
  const found = await simulate({ ...cell, better: -0.4 });
  assert(found > 0.8, `${(found * 100).toFixed(1)} % found it`);
});

Deno.test("the intervals of whole comparisons hold the true difference in about 95 %", async () => {
  const sampler = createSampler(9);
  const rounds = 150;
  let covered = 0;
  for (let round = 0; round < rounds; round++) {
    const scenarios = Array.from(
      { length: 12 },
      () => SCORE_KINDS.continuous!(sampler, { noise: 1 }),
    );
    const run = (better: number): RecordedScenario[] =>
      scenarios.map((attempt, index) => [`s${index}`, [["t", attempt(better), attempt(better)]]]);
    const { scores } = await compareTwo({
      baseline: recordedRun(run(0)),
      candidate: recordedRun(run(0.05)),
    });
    const [low, high] = scores.overall!.ci95!;
    if (low <= 0.05 && 0.05 <= high) covered++;
  }
  assert(covered / rounds >= 0.9, `${covered} of ${rounds}`);
});
