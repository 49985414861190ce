import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { permutationTest } from "../../../eval/compare/permutation.ts";
import { createRandom } from "../../../eval/compare/random.ts";
import { leastCoverage } from "../../fakes/least_coverage.ts";

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

Deno.test("other scores that differ alike in all scenarios have a narrow interval, not a single value", async () => {
  const same = await test(Array.from({ length: 10 }, () => [0.7, 0.7]));
  const [low, high] = same.interval!;
  assert(low > -0.02 && low < 0 && high > 0 && high < 0.02, `${low} to ${high}`);
  const half = Array.from({ length: 10 }, () => ({ baseline: [0, 0], candidate: [0, 1] }));
  const { interval } = await permutationTest(half, { seed: 1, pause: () => Promise.resolve() });
  assert(interval![0] > 0.48 && interval![0] < 0.5, `${interval}`);
  assert(interval![1] > 0.5 && interval![1] < 0.52, `${interval}`);
});

Deno.test("0 is in the interval exactly if the p-value is above 0.05", async () => {
  const random = createRandom(11);
  const outcome = (chance: number) => Number(random() / 2 ** 32 < chance);
  let verdicts = 0;
  for (let round = 0; round < 150; round++) {
    const attempts = 1 + round % 3;
    const scenarios = Array.from({ length: 6 + round % 5 }, () => ({
      baseline: Array.from({ length: attempts }, () => outcome(0.3)),
      candidate: [outcome(0.85)],
    }));
    const { p, interval } = await permutationTest(scenarios, {
      seed: 1,
      pause: () => Promise.resolve(),
      draws: 500,
    });
    assertEquals(interval![0] <= 0 && 0 <= interval![1], p > 0.05, `${p}: ${interval}`);
    if (p <= 0.05) verdicts++;
  }
  assert(verdicts > 25, `${verdicts}`);
});

Deno.test("the interval covers every difference of passes and failures, by all outcomes that there are", async () => {
  for (const size of [6, 7, 8, 9, 10, 11, 12, 15]) {
    const covered = await leastCoverage(size, async (differences) => {
      const { interval } = await test(differences.map((own) => own === 1 ? [0, 1] : [1, 1 + own]));
      return interval!;
    });
    assert(covered >= 0.91, `${size} scenarios: ${covered}`);
  }
});
