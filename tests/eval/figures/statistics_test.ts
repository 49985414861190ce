import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { meanInterval } from "../../../eval/figures/summary/mean_interval.ts";
import {
  aggregateAttempts,
  aggregateScores,
  createScenarioAggregate,
  type ScoredTurn,
  scoreStatistic,
} from "../../../eval/figures/summary/statistics.ts";
import { simulateCoverage } from "../../bench/trust/coverage.ts";
import { aggregateScenarios } from "../../fakes/whole_results.ts";

/** Turns with one score `x`, each its own cluster unless the test says otherwise. */
function turns(values: (number | null)[], more: Partial<ScoredTurn> = {}): ScoredTurn[] {
  return values.map((x, cluster) => ({ scores: { x }, failed: false, cluster, ...more }));
}

const overAttempts = (turns: ScoredTurn[]) => aggregateAttempts(turns, () => Promise.resolve());

Deno.test("mean and spread of six values, computed by hand", async () => {
  // 0.2 0.4 0.6 0.8 0.5 0.5: mean 0.5; squares .09 .01 .01 .09 = .2; s² = .2/5; s/√6.
  const values = turns([0.2, 0.4, 0.6, 0.8, 0.5, 0.5]);
  const { average_scores, statistics } = await overAttempts(values);
  const { x } = statistics;
  assertEquals([x!.n, x!.failed, x!.min, x!.max], [6, 0, 0.2, 0.8]);
  assertAlmostEquals(x!.mean!, 0.5, 1e-12);
  assertAlmostEquals(x!.stdev!, 0.2, 1e-12);
  assertAlmostEquals(x!.stderr!, 0.2 / Math.sqrt(6), 1e-12);
  assertEquals(x!.ci95, meanInterval([0.2, 0.4, 0.6, 0.8, 0.5, 0.5]));
  assertEquals(average_scores.x, x!.mean);
});

Deno.test("a failed turn counts 0 in the mean and is left out of the mean of those answered", () => {
  const failed = { scores: { x: 0 }, failed: true, cluster: 9 };
  const { x } = aggregateScores([...turns([0.6, 0.9]), failed]).statistics;
  assertEquals([x!.n, x!.failed, x!.min], [3, 1, 0]);
  assertAlmostEquals(x!.mean!, 0.5, 1e-12);
  assertAlmostEquals(x!.mean_of_answered!, 0.75, 1e-12);
});

Deno.test("the standard error of pooled turns is clustered, computed by hand", async () => {
  // Two attempts of two turns: (1, 1) and (0, 0.4). Mean 0.6, residual sums 0.8 and −0.8.
  // √(2/1 × (0.64 + 0.64)) / 4 = 0.4, where taking all four for independent gives 0.245.
  const pooled: ScoredTurn[] = [
    { scores: { x: 1 }, failed: false, cluster: 0 },
    { scores: { x: 1 }, failed: false, cluster: 0 },
    { scores: { x: 0 }, failed: false, cluster: 1 },
    { scores: { x: 0.4 }, failed: false, cluster: 1 },
  ];
  const { x } = (await overAttempts(pooled)).statistics;
  assertAlmostEquals(x!.stderr!, 0.4, 1e-12);
});

Deno.test("what is no sample has no interval, and a sample of fewer than five says why", async () => {
  const one = aggregateScores(turns([0.5])).statistics.x!;
  assertEquals([one.stdev, one.stderr, one.ci95, one.ci95_reason], [null, null, null, undefined]);
  const few = scoreStatistic("x", turns([0.1, 0.9, 0.4]), "scenario");
  assertEquals([few.ci95, few.ci95_reason], [null, "3 scenarios: an interval needs 5"]);
  const { x } = (await overAttempts(turns([0.1, 0.9], { cluster: 1 }))).statistics;
  assertEquals([x!.stderr, x!.ci95], [null, null]);
});

Deno.test("a score that does not apply to a turn stays out; one that applies to none is null", () => {
  const { average_scores, statistics } = aggregateScores([
    { scores: { x: 1, y: null }, failed: false, cluster: 0 },
    { scores: { x: null, y: null }, failed: false, cluster: 1 },
  ]);
  assertEquals(average_scores, { x: 1, y: null });
  assertEquals([statistics.x!.n, statistics.y!.n, statistics.y!.mean], [1, 0, null]);
});

Deno.test("a turn without a score that it should have counts 0, and is named", async () => {
  const known = turns([0.2, 0.6, 0.4, 0.4]);
  const lacking = turns([null, null], { missing: { x: "judge_unavailable" } })
    .map((turn, index) => ({ ...turn, cluster: 10 + index }));
  const { statistics: { x } } = await overAttempts([...known, ...lacking, ...turns([null])]);
  assertEquals([x!.n, x!.turns, x!.missing, x!.failed, x!.min], [6, 4, 2, 0, 0]);
  assertAlmostEquals(x!.mean!, 1.6 / 6, 1e-12);
  assertAlmostEquals(x!.mean_of_answered!, 0.4, 1e-12);
  assertEquals(x!.ci95, meanInterval([0.2, 0.6, 0.4, 0.4, 0, 0]));
});

Deno.test("scenarios that ask the same count as one", () => {
  const aggregate = createScenarioAggregate();
  const of = (value: number) => aggregateScores(turns([value])).statistics;
  for (let copy = 0; copy < 12; copy++) aggregate.add(of(1), "same");
  for (const [index, value] of [0, 0.2, 0.4, 0.6].entries()) aggregate.add(of(value), `${index}`);
  const { n, turns: counted, mean } = aggregate.describe("x");
  assertEquals([n, counted], [5, 16]);
  assertAlmostEquals(mean!, 2.2 / 5, 1e-12);
});

Deno.test("a scenario with nothing but missing turns counts 0 in its run", () => {
  const whole = aggregateScores(turns([0.8])).statistics;
  const none = aggregateScores(turns([null], { missing: { x: "judge_unavailable" } })).statistics;
  const { x } = aggregateScenarios([whole, none]).statistics;
  assertEquals([x!.n, x!.turns, x!.missing, x!.mean], [2, 1, 1, 0.4]);
});

Deno.test("equal values have no spread at all", () => {
  const { x } = aggregateScores(turns([0.7, 0.7, 0.7])).statistics;
  assertAlmostEquals(x!.stdev!, 0, 1e-15);
});

Deno.test("a turn that fails never raises the mean", () => {
  const value = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null });
  fc.assert(fc.property(fc.array(value, { minLength: 1 }), fc.nat(), (values, pick) => {
    const before = turns(values);
    const after = before.map((turn, index) =>
      index === pick % values.length ? { ...turn, scores: { x: 0 }, failed: true } : turn
    );
    const [was, is] = [before, after].map((all) => aggregateScores(all).average_scores.x);
    assert(is! <= (was ?? 0) + 1e-12);
  }));
});

const repeat = (value: number, count: number) => new Array<number>(count).fill(value);

Deno.test("of passes and failures it is Clopper and Pearson's interval", () => {
  // R: binom.test(8, 10)$conf.int and others.
  const known: [passed: number, of: number, low: number, high: number][] = [
    [5, 5, 0.4782, 1],
    [0, 8, 0, 0.3694],
    [8, 10, 0.4439, 0.9748],
    [15, 30, 0.3130, 0.6870],
  ];
  for (const [passed, of, low, high] of known) {
    const [from, to] = meanInterval([...repeat(1, passed), ...repeat(0, of - passed)])!;
    assertAlmostEquals(from, low, 0.004);
    assertAlmostEquals(to, high, 0.004);
  }
});

Deno.test("equal values leave room for others that were not seen", () => {
  for (const count of [5, 6, 8, 9, 12, 20, 30]) {
    const [low, high] = meanInterval(repeat(0.85, count))!;
    // So many zeros may be among them that none was seen in one sample of forty.
    assertAlmostEquals(low, 0.85 * 0.025 ** (1 / count), 0.004);
    assert(high > 0.85 && high < 1);
  }
});

Deno.test("four values have no interval", () => {
  assertEquals(meanInterval([0.1, 0.5, 0.6, 1]), null);
});

const values = fc.array(
  fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  { minLength: 5, maxLength: 40 },
);

Deno.test("it is continuous in the data and rises with it, holds the mean, and stays on the scale", () => {
  fc.assert(fc.property(values, fc.nat(), (sample, pick) => {
    const [low, high] = meanInterval(sample)!;
    const mean = sample.reduce((sum, value) => sum + value, 0) / sample.length;
    assert(0 <= low && low <= mean + 1e-9 && mean - 1e-9 <= high && high <= 1);
    const index = pick % sample.length;
    const raised = sample.with(index, Math.min(1, sample[index]! + 0.001));
    const [nextLow, nextHigh] = meanInterval(raised)!;
    assert(low - 1e-6 <= nextLow && nextLow <= low + 0.001, `${low} to ${nextLow}`);
    assert(high - 1e-6 <= nextHigh && nextHigh <= high + 0.001, `${high} to ${nextHigh}`);
  }));
});

Deno.test("a run of many scenarios is as exact in bins as value by value", () => {
  const sample = Array.from({ length: 5000 }, (_, index) => (index * 7919 % 4999) / 4999);
  const [low, high] = meanInterval(sample)!;
  const half = 1.96 * Math.sqrt(1 / 12 / 5000);
  assertAlmostEquals(low, 0.5 - half, 0.001);
  assertAlmostEquals(high, 0.5 + half, 0.001);
});

for (
  const [kind, scenarios, attempts] of [
    ["0.85, one in ten 0", 5, 1],
    ["0.85, one in ten 0", 12, 3],
    ["skewed", 8, 1],
    ["passes, p = 0.9", 20, 1],
    ["bimodal", 12, 1],
  ] as [string, number, number][]
) {
  Deno.test(`it holds the true mean in 93 % at least: ${kind}, ${scenarios} scenarios × ${attempts}`, () => {
    const cell = { kind, scenarios, attempts };
    const { covered } = simulateCoverage(cell, { simulations: 1000, seed: 3 });
    assert(covered >= 0.93, `${covered}`);
  });
}
