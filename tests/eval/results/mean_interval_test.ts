import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { meanInterval } from "../../../eval/results/mean_interval.ts";
import { aggregateScores } from "../../../eval/results/statistics.ts";
import { aggregateScenarios } from "../../fakes/whole_results.ts";
import { simulateCoverage } from "../../bench/trust/coverage.ts";

/** The interval of some values, each a cluster of its own. */
function interval(values: number[]): [number, number] {
  const turns = values.map((x, cluster) => ({ scores: { x }, failed: false, cluster }));
  return aggregateScores(turns).statistics.x!.ci95!;
}

const passes = (passed: number, n: number) =>
  Array.from({ length: n }, (_, index) => index < passed ? 1 : 0);

Deno.test("passes and failures have Wilson's interval with 2.2 standard errors, by hand", () => {
  // 5 of 5: [5 / (5 + 2.2²), 1]. 4 of 5: centre (0.8 + 0.484) / 1.968, half 2.2 √(0.032 + 0.0484) / 1.968.
  assertAlmostEquals(interval(passes(5, 5))[0], 5 / 9.84, 1e-12);
  assertEquals(interval(passes(5, 5))[1], 1);
  const [low, high] = interval(passes(4, 5));
  assertAlmostEquals((low + high) / 2, 1.284 / 1.968, 1e-12);
  assertAlmostEquals((high - low) / 2, 2.2 * Math.sqrt(0.032 + 0.0484) / 1.968, 1e-12);
});

Deno.test("passes alone never prove that nothing can fail", () => {
  for (const n of [2, 5, 10, 100]) assert(interval(passes(n, n))[0] < 1, `${n} of ${n}`);
});

Deno.test("the interval of passes covers 93 % to 99 %, exactly computed, but for 5 at p = 0.9", () => {
  for (const n of [5, 6, 7, 10, 12, 20, 25, 30, 40, 60, 100]) {
    for (const p of [0.5, 0.8, 0.9, 0.95]) {
      let chance = (1 - p) ** n;
      let covered = 0;
      for (let passed = 0; passed <= n; passed++) {
        const [low, high] = interval(passes(passed, n));
        if (low <= p && p <= high) covered += chance;
        chance *= (n - passed) / (passed + 1) * p / (1 - p);
      }
      if (n === 5 && p === 0.9) {
        // The outcomes 4 and 5 together have 91.9 %, with 3 it is 99.1 %: there is nothing between.
        assertAlmostEquals(covered, 0.91854, 1e-9);
      } else assert(covered >= 0.93 && covered <= 0.99, `n ${n}, p ${p}: ${covered}`);
    }
  }
});

Deno.test("the interval of five grades on a scale of five steps covers 98.6 %, exactly computed", () => {
  const grades = [[0, 0.05], [0.25, 0.05], [0.5, 0.1], [0.75, 0.2], [1, 0.6]] as const;
  const mean = grades.reduce((sum, [grade, share]) => sum + grade * share, 0);
  /** The chance that the rest of five grades, in any order, gives an interval with the mean in it. */
  const chanceOf = (values: number[], chance: number): number => {
    if (values.length < 5) {
      return grades.reduce(
        (sum, [grade, share]) => sum + chanceOf([...values, grade], chance * share),
        0,
      );
    }
    const [low, high] = interval(values);
    return low <= mean && mean <= high ? chance : 0;
  };
  assertAlmostEquals(chanceOf([], 1), 0.98631, 1e-5);
});

for (
  const [kind, attempts] of [
    ["binary, p = 0.9", 3],
    ["binary, p = 0.9, scenarios differ", 10],
    ["binary, p = 0.5", 10],
    ["continuous", 1],
    ["skewed", 3],
    ["ordinal", 1],
    ["ordinal", 10],
  ] as const
) {
  Deno.test(`95 % intervals hold the mean of a simulated run: ${kind}, ${attempts} attempts`, () => {
    for (const scenarios of [5, 10, 40]) {
      const covered = simulateCoverage(
        { kind, scenarios, attempts },
        { simulations: 1000, seed: 11 },
      );
      assert(covered >= 0.92 && covered <= 0.992, `${scenarios} scenarios: ${covered}`);
    }
  });
}

Deno.test("an interval lies within [0, 1] and holds its mean, whatever the values", () => {
  const value = fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(0, 1),
    fc.double({ min: 0, max: 1e-9, noNaN: true }),
  );
  fc.assert(fc.property(fc.array(value, { minLength: 2, maxLength: 30 }), (values) => {
    const [low, high] = interval(values);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    assert(low >= 0 && high <= 1, `[${low}, ${high}]`);
    assert(low <= mean + 1e-12 && mean <= high + 1e-12, `${mean} in [${low}, ${high}]`);
  }));
});

Deno.test("attempts that agree are one piece of evidence, and those that differ are more", () => {
  const run = (attempts: number[][]) =>
    aggregateScores(
      attempts.flatMap((turns, cluster) =>
        turns.map((x) => ({ scores: { x }, failed: false, cluster }))
      ),
    ).statistics.x!.ci95!;
  const together = run([[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]);
  assertEquals(together, interval([1, 0, 1, 1]));
  const apart = run([[1, 1, 1, 0], [1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 1]]);
  assert(apart[1] - apart[0] < (together[1] - together[0]) / 4);
});

Deno.test("a scenario's interval over its attempts is that of a run over scenarios with the same values", () => {
  const values = [[1, 0.5, 1], [0.2, 0.9, 1], [1, 1, 1], [0, 0.4, 0.7]];
  const toTurns = (clusters: number[][]) =>
    clusters.flatMap((turns, cluster) =>
      turns.map((x) => ({ scores: { x }, failed: false, cluster }))
    );
  const scenario = aggregateScores(toTurns(values)).statistics.x!.ci95!;
  const run = aggregateScenarios(
    values.map((turns) => aggregateScores(toTurns([turns])).statistics),
  ).statistics.x!.ci95!;
  assertAlmostEquals(scenario[0], run[0], 1e-12);
  assertAlmostEquals(scenario[1], run[1], 1e-12);
});

Deno.test("clusters of unequal size count as fewer", () => {
  const of = (effectiveClusters: number) =>
    meanInterval({
      mean: 1,
      clusters: 5,
      effectiveClusters,
      stderr: 0,
      skewness: 0,
      isAllOrNothing: true,
    });
  assert(of(3)[0] < of(5)[0]);
});
