import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { permutationTest } from "../../../eval/compare/permutation.ts";
import { createRandom } from "../../../eval/compare/random.ts";

/** One attempt on each side of each scenario. */
const test = (pairs: [baseline: number, candidate: number][]) =>
  permutationTest(
    pairs.map(([baseline, candidate]) => ({ baseline: [baseline], candidate: [candidate] })),
    { seed: 1, pause: () => Promise.resolve() },
  );

Deno.test("if passes and failures differ alike, the interval is as wide as that of as many passes", async () => {
  const equal = (count: number) => test(Array.from({ length: count }, (_, i) => [i % 2, i % 2]));
  const unseen = 2.2 ** 2 / (10 + 2.2 ** 2);
  const { p, interval } = await equal(10);
  assertEquals(p, 1);
  assertAlmostEquals(interval![0], -unseen, 1e-12);
  assertAlmostEquals(interval![1], unseen, 1e-12);
  assertEquals((await equal(5)).interval, null); // as of any five scenarios

  const better = await test(Array.from({ length: 10 }, () => [0, 1]));
  assertAlmostEquals(better.interval![0], 1 - 2 * unseen, 1e-12);
  assertEquals(better.interval![1], 1);
});

Deno.test("scores that are no passes keep the interval of the test, however equal they are", async () => {
  assertEquals((await test(Array.from({ length: 10 }, () => [0.7, 0.7]))).interval, [0, 0]);
  const half = Array.from({ length: 10 }, () => ({ baseline: [0, 0], candidate: [0, 1] }));
  const { interval } = await permutationTest(half, { seed: 1, pause: () => Promise.resolve() });
  assertEquals(interval, [0.5, 0.5]);
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
