import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import type { Attempts } from "../../../eval/compare/statistics/attempt_shift.ts";
import {
  differencesOf,
  permutationTest,
  testedInterval,
} from "../../../eval/compare/statistics/permutation.ts";
import { signFlip } from "../../../eval/compare/statistics/sign_flip.ts";
import { ALPHA } from "../../../eval/results/mean_interval.ts";
import { leastCoverage } from "../../fakes/least_coverage.ts";

const options = { seed: 1, pause: () => Promise.resolve(), draws: 400 };

async function compare(scenarios: Attempts[], alpha = ALPHA) {
  const p = await permutationTest(scenarios, options);
  const differences = differencesOf(scenarios);
  return { p, ci95: testedInterval({ lows: differences, highs: differences }, { p, alpha }) };
}

/** One attempt on each side of each scenario. */
const single = (pairs: [baseline: number, candidate: number][]) =>
  compare(pairs.map(([baseline, candidate]) => ({ baseline: [baseline], candidate: [candidate] })));

const score = fc.integer({ min: 0, max: 10 }).map((value) => value / 10);
const attempts = fc.array(score, { minLength: 1, maxLength: 4 });
const scenarios = fc.array(fc.record({ baseline: attempts, candidate: attempts }), {
  minLength: 5,
  maxLength: 14,
});

Deno.test("0 is in the interval exactly if the test does not reject, at every level", async () => {
  let rejected = 0;
  await fc.assert(fc.asyncProperty(
    scenarios,
    fc.constantFrom(0, 0.3, 0.6),
    fc.constantFrom(ALPHA, ALPHA / 10),
    async (runs, shift, alpha) => {
      const better = runs.map(({ baseline, candidate }) => ({
        baseline,
        candidate: candidate.map((value) => Math.min(1, value + shift)),
      }));
      const { p, ci95 } = await compare(better, alpha);
      const [low, high] = ci95!;
      assertEquals(low <= 0 && 0 <= high, p >= alpha, `${p}: ${ci95}`);
      if (p < alpha) rejected++;
      const differences = differencesOf(better);
      const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
      assert(-1 <= low && low <= mean + 1e-9 && mean - 1e-9 <= high && high <= 1, `${ci95}`);
    },
  ));
  assert(rejected > 5, `${rejected}`);
});

Deno.test("ten scenarios in which both runs did the same leave room for others, also below", async () => {
  const { p, ci95 } = await single(Array.from({ length: 10 }, (_, i) => [i % 2, i % 2]));
  assertEquals(p, 1);
  // No difference of 1 was seen in ten: by Clopper and Pearson up to 31 % may have one.
  assertAlmostEquals(ci95![1], 1 - 0.025 ** (1 / 10), 0.003);
  assertAlmostEquals(ci95![0], -ci95![1], 1e-9);
});

Deno.test("fewer than five scenarios have no interval, and five have one", async () => {
  assertEquals((await single([[0, 1], [0, 1], [0, 1], [0, 1]])).ci95, null);
  const five = await single([[0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]);
  assertEquals(five.p, 2 / 32);
  assert(five.ci95![0] <= 0, "five can never be significant");
});

Deno.test("differences that are known only within bounds have an interval that holds both", async () => {
  const lows = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.2];
  const highs = lows.map((value) => value + 0.4);
  const p = await signFlip(lows, options);
  const whole = testedInterval({ lows, highs }, { p, alpha: ALPHA })!;
  const low = testedInterval({ lows, highs: lows }, { p, alpha: ALPHA })!;
  const high = testedInterval({ lows: highs, highs }, { p, alpha: ALPHA })!;
  assertEquals(whole, [low[0], high[1]]);
});

Deno.test("the interval covers every difference of passes and failures, by all outcomes that there are", async () => {
  for (const size of [5, 6, 7, 8, 10, 12]) {
    const covered = await leastCoverage(size, async (differences) => {
      return (await single(differences.map((own) => own === 1 ? [0, 1] : [1, 1 + own]))).ci95!;
    });
    assert(covered >= 0.93, `${size} scenarios: ${covered}`);
  }
});

Deno.test("six misses in a hundred attempts against none in ten are no difference", async () => {
  const runs = Array.from({ length: 10 }, (_, index): Attempts => ({
    baseline: Array.from({ length: 10 }, (_, attempt) => index < 6 && attempt === 3 ? 0 : 1),
    candidate: [1],
  }));
  assert(await signFlip(differencesOf(runs), options) < ALPHA, "sign flips alone would find one");
  const { p, ci95 } = await compare(runs);
  assert(p > 0.5, `p = ${p}`);
  assert(ci95![0] <= 0);
});

Deno.test("a difference that is reversed in some of the scenarios is none in general, however many attempts show it", async () => {
  const runs = Array.from({ length: 10 }, (_, index): Attempts => ({
    baseline: new Array<number>(20).fill(0.5),
    candidate: [index < 8 ? 0.9 : 0.1],
  }));
  assert((await compare(runs)).p > ALPHA);
});
