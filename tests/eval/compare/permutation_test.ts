import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { permutationTest } from "../../../eval/compare/permutation.ts";
import { createRandom } from "../../../eval/compare/random.ts";

/** One attempt on each side of each scenario. */
const test = (pairs: [baseline: number, candidate: number][]) =>
  permutationTest(
    pairs.map(([baseline, candidate]) => ({ baseline: [baseline], candidate: [candidate] })),
    { seed: 1, pause: () => Promise.resolve() },
  );

Deno.test("if no scenario differs, the interval is as wide as that of as many passes", async () => {
  const equal = (count: number) => test(Array.from({ length: count }, () => [1, 1]));
  const { p, interval } = await equal(10);
  assertEquals(p, 1);
  assertAlmostEquals(interval![0], -(2.2 ** 2) / (10 + 2.2 ** 2), 1e-12);
  assertAlmostEquals(interval![1], 2.2 ** 2 / (10 + 2.2 ** 2), 1e-12);
  assertEquals((await equal(5)).interval, null); // as of any five scenarios
});

Deno.test("the interval covers a rare difference of passes and failures in few scenarios", async () => {
  const random = createRandom(3);
  const ROUNDS = 400;
  let covered = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { interval } = await test(
      Array.from({ length: 8 }, () => [Number(random() / 2 ** 32 >= 0.1), 1]),
    );
    if (interval![0] <= 0.1 && 0.1 <= interval![1]) covered++;
  }
  assert(covered >= 0.93 * ROUNDS, `${covered} of ${ROUNDS} cover it`);
});
