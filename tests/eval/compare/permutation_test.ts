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
  for (let round = 0; round < 300; round++) {
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
  assert(verdicts > 50, `${verdicts}`);
});

/** The chance that of `size` scenarios so many get better and worse. */
function chanceOf(
  { up, down, size }: { up: number; down: number; size: number },
  [better, worse]: [better: number, worse: number],
): number {
  let chance = better ** up * worse ** down * (1 - better - worse) ** (size - up - down);
  for (let k = 1; k <= up; k++) chance *= (size - k + 1) / k;
  for (let k = 1; k <= down; k++) chance *= (size - up - k + 1) / k;
  return chance;
}

Deno.test("the interval covers every difference of passes and failures, by all outcomes that there are", async () => {
  const shares = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
  for (const size of [6, 7, 8, 10, 12]) {
    const outcomes: { up: number; down: number; interval: [number, number] }[] = [];
    for (let up = 0; up <= size; up++) {
      for (let down = 0; up + down <= size; down++) {
        const { interval } = await test(Array.from(
          { length: size },
          (_, index) => index < up ? [0, 1] : index < up + down ? [1, 0] : [1, 1],
        ));
        outcomes.push({ up, down, interval: interval! });
      }
    }
    for (const better of shares) {
      for (const worse of shares.filter((worse) => worse <= Math.min(better, 1 - better))) {
        const difference = better - worse;
        const covered = outcomes.filter(({ interval: [low, high] }) =>
          low - 1e-9 <= difference && difference <= high + 1e-9
        ).reduce((sum, { up, down }) => sum + chanceOf({ up, down, size }, [better, worse]), 0);
        assert(covered >= 0.93, `${size} scenarios, ${better} and ${worse}: ${covered}`);
      }
    }
  }
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
