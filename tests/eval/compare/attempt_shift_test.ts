import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { type Attempts, shiftAttempts } from "../../../eval/compare/attempt_shift.ts";
import { permutationTest } from "../../../eval/compare/permutation.ts";
import { signFlip } from "../../../eval/compare/sign_flip.ts";
import { ALPHA } from "../../../eval/compare/spans.ts";

const options = { seed: 1, pause: () => Promise.resolve() };
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const difference = ({ baseline, candidate }: Attempts) => mean(candidate) - mean(baseline);

/** The definition for one attempt of the candidate: every attempt in turn plays its part. */
function everyChoice(scenarios: Attempts[], shift = 0): number {
  const pools = scenarios.map(({ baseline, candidate }) => [
    ...candidate.map((value) => value - shift),
    ...baseline,
  ]);
  const real = Math.abs(pools.reduce((sum, [first, ...rest]) => sum + first! - mean(rest), 0));
  let asFar = 0;
  let count = 0;
  const choose = (scenario: number, sum: number) => {
    if (scenario === pools.length) {
      count++;
      if (Math.abs(sum) >= real - 1e-12) asFar++;
      return;
    }
    for (const [index, value] of pools[scenario]!.entries()) {
      choose(scenario + 1, sum + value - mean(pools[scenario]!.toSpliced(index, 1)));
    }
  };
  choose(0, 0);
  return asFar / count;
}

const score = fc.integer({ min: 0, max: 10 }).map((value) => value / 10);
const attempts = (most: number) => fc.array(score, { minLength: 1, maxLength: most });
const oneCandidate = fc.array(
  fc.record({ baseline: attempts(3), candidate: attempts(1) }),
  { minLength: 1, maxLength: 5 },
);
const anyAttempts = fc.array(
  fc.record({ baseline: attempts(4), candidate: attempts(4) }),
  { minLength: 1, maxLength: 12 },
);

Deno.test("with one attempt on one side, the p-value is that of every choice of an attempt", async () => {
  await fc.assert(fc.asyncProperty(oneCandidate, async (scenarios) => {
    const { p, isExact } = await shiftAttempts(scenarios, options);
    assert(isExact);
    assertAlmostEquals(p, everyChoice(scenarios), 1e-12);
  }));
});

Deno.test("the interval is the shifts that the same test does not reject", async () => {
  await fc.assert(fc.asyncProperty(oneCandidate, async (scenarios) => {
    const { interval } = await shiftAttempts(scenarios, options);
    if (!interval) return;
    for (const [end, outwards] of [[interval[0], -1], [interval[1], 1]] as const) {
      if (Math.abs(end) === 1) continue; // no difference lies beyond it
      assert(everyChoice(scenarios, end) > ALPHA, "an end belongs to the interval");
      assert(everyChoice(scenarios, end + outwards * 1e-6) <= ALPHA, "what is beyond it does not");
    }
  }));
});

Deno.test("with one attempt on each side it is the sign-flip test", async () => {
  const pair = fc.record({ baseline: attempts(1), candidate: attempts(1) });
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { minLength: 1, maxLength: 9 }), async (scenarios) => {
      const shifted = await shiftAttempts(scenarios, options);
      const flipped = await signFlip(scenarios.map(difference), options);
      assertAlmostEquals(shifted.p, flipped.p, 1e-12);
    }),
  );
});

Deno.test("a p-value and its interval agree for any numbers of attempts, and the interval is possible", async () => {
  await fc.assert(fc.asyncProperty(anyAttempts, async (scenarios) => {
    const { p, interval } = await permutationTest(scenarios, { ...options, draws: 400 });
    if (!interval) return assert(p > ALPHA);
    assertEquals(p <= ALPHA, interval[0] > 0 || interval[1] < 0);
    assert(interval[0] >= -1 && interval[1] <= 1);
    const real = mean(scenarios.map(difference));
    assert(interval[0] <= real + 1e-9 && real <= interval[1] + 1e-9);
  }));
});

Deno.test("six misses in a hundred attempts against none in ten are no difference", async () => {
  const scenarios = Array.from({ length: 10 }, (_, index): Attempts => ({
    baseline: Array.from({ length: 10 }, (_, attempt) => index < 6 && attempt === 3 ? 0 : 1),
    candidate: [1],
  }));
  const { p, pOfScenarios, interval } = await permutationTest(scenarios, options);
  assert(pOfScenarios <= ALPHA, "sign flips alone would find one");
  assert(p > 0.5, `p = ${p}`);
  assert(interval![0] <= 0);
});

Deno.test("a difference that is reversed in some of the scenarios is none in general, however many attempts show it", async () => {
  const scenarios = Array.from({ length: 10 }, (_, index): Attempts => ({
    baseline: new Array<number>(20).fill(0.5),
    candidate: [index < 8 ? 0.9 : 0.1],
  }));
  const { p, pOfAttempts } = await permutationTest(scenarios, options);
  assert(pOfAttempts! <= ALPHA, "these scenarios do differ");
  assert(p > ALPHA, `p = ${p}`);
});

Deno.test("the event loop gets its turn, and the same seed draws the same sample", async () => {
  const scenarios = Array.from({ length: 300 }, (_, index): Attempts => ({
    baseline: [Math.abs(Math.sin(index)), Math.abs(Math.cos(index))],
    candidate: [Math.abs(Math.sin(index + 0.3))],
  }));
  let pauses = 0;
  const counting = { ...options, pause: () => Promise.resolve(void pauses++) };
  const first = await shiftAttempts(scenarios, counting);
  assert(pauses >= 50, `paused ${pauses} times`);
  assertEquals(first.isExact, false);
  assertEquals(await shiftAttempts(scenarios, options), first);
});
