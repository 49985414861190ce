import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { meanInterval } from "../../../eval/results/mean_interval.ts";
import { simulateCoverage } from "../../bench/trust/coverage.ts";

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

Deno.test("values that are known within bounds have an interval that holds whichever they are", () => {
  const lows = [0.1, 0.4, 0.5, 0.2, 0.9, 0.3];
  const highs = lows.map((value, index) => index % 2 ? 1 : value);
  assertEquals(meanInterval(lows, highs), [meanInterval(lows)![0], meanInterval(highs)![1]]);
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
