import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { type Attempts, shiftAttempts } from "../../../eval/compare/statistics/attempt_shift.ts";
import { signFlip } from "../../../eval/compare/statistics/sign_flip.ts";

const options = { seed: 1, pause: () => Promise.resolve() };
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const difference = ({ baseline, candidate }: Attempts) => mean(candidate) - mean(baseline);

/** The definition for one attempt of the candidate: every attempt in turn plays its part. */
function everyChoice(scenarios: Attempts[]): number {
  const pools = scenarios.map(({ baseline, candidate }) => [
    ...candidate,
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
Deno.test("with one attempt on one side, the p-value is that of every choice of an attempt", async () => {
  await fc.assert(fc.asyncProperty(oneCandidate, async (scenarios) => {
    assertAlmostEquals(await shiftAttempts(scenarios, options), everyChoice(scenarios), 1e-12);
  }));
});

Deno.test("with one attempt on each side it is the sign-flip test", async () => {
  const pair = fc.record({ baseline: attempts(1), candidate: attempts(1) });
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { minLength: 1, maxLength: 9 }), async (scenarios) => {
      const shifted = await shiftAttempts(scenarios, options);
      const flipped = await signFlip(scenarios.map(difference), options);
      assertAlmostEquals(shifted, flipped, 1e-12);
    }),
  );
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
  assertEquals(await shiftAttempts(scenarios, options), first);
});
