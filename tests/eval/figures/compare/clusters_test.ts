import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import {
  type Attempts,
  createRandom,
  differencesOf,
  holm,
  permutationTest,
  shiftAttempts,
  signFlips,
  testedInterval,
  type TestOptions,
} from "../../../../eval/figures/compare/statistics/permutation.ts";
import { ALPHA } from "../../../../eval/figures/summary/mean_interval.ts";
import { leastCoverage } from "../../../fakes/least_coverage.ts";
import { recordedRun, type RecordedScenario } from "../../../fakes/recorded_run.ts";
import { compareTwo } from "../../../fakes/compare_two.ts";

const HOLM_ALPHA = 0.05;

Deno.test("p-values are corrected as R's p.adjust(method = 'holm') does", () => {
  const corrected = holm([0.01, 0.04, 0.03, 0.005], HOLM_ALPHA);
  for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) {
    assertAlmostEquals(corrected[index]!.p, expected, 1e-12);
  }
});

Deno.test("a single p-value stays as it is, and none exceeds 1", () => {
  assertEquals(holm([0.04], HOLM_ALPHA), [{ p: 0.04, level: 0.05 }]);
  assertEquals(holm([0.9, 0.8], HOLM_ALPHA).map(({ p }) => p), [1, 1]);
  assertEquals(holm([], HOLM_ALPHA), []);
});

Deno.test("a p-value is below its level exactly if the corrected one is below 0.05", () => {
  const random = createRandom(2);
  for (let round = 0; round < 2000; round++) {
    const values = Array.from({ length: 1 + round % 9 }, () => (random() / 2 ** 32) ** 3);
    for (const [index, { p, level }] of holm(values, HOLM_ALPHA).entries()) {
      assertEquals(values[index]! < level, p < HOLM_ALPHA, `${values}`);
    }
  }
});

Deno.test("equal models have any small p-value in 5 % of comparisons at most", () => {
  const random = createRandom(1);
  const ROUNDS = 20_000;
  let wrong = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const values = Array.from({ length: 16 }, () => random() / 2 ** 32);
    if (holm(values, HOLM_ALPHA).some(({ p }) => p < HOLM_ALPHA)) wrong++;
  }
  const share = wrong / ROUNDS;
  assert(share > 0.045 && share < 0.0535, `${share}`); // three standard errors
});

const options = { seed: 1, pause: () => Promise.resolve() };
const signFlip = async (values: number[], options: TestOptions) =>
  (await signFlips([values], options))[0]!;

/** The definition: all 2^n ways to choose signs. */
function everySign(differences: number[]): number {
  const real = Math.abs(differences.reduce((sum, value) => sum + value, 0));
  let asFar = 0;
  for (let mask = 0; mask < 2 ** differences.length; mask++) {
    const sum = differences.reduce(
      (sum, value, bit) => sum + (mask >> bit & 1 ? -value : value),
      0,
    );
    if (Math.abs(sum) >= real - 1e-12) asFar++;
  }
  return asFar / 2 ** differences.length;
}

const differences = fc.array(
  fc.integer({ min: -20, max: 20 }).map((value) => value / 20),
  { minLength: 1, maxLength: 11 },
);

Deno.test("few differences are tested exactly: the p-value is that of all sign patterns", async () => {
  await fc.assert(fc.asyncProperty(differences, async (values) => {
    assertAlmostEquals(await signFlip(values, options), everySign(values), 1e-12);
  }));
});

Deno.test("by hand: six differences on one side have p = 2/64, five can never reach 0.05", async () => {
  assertEquals(await signFlip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], options), 2 / 64);
  assertEquals(await signFlip([0.1, 0.2, 0.3, 0.4, 0.5], options), 2 / 32);
});

Deno.test("a drawn sample comes close to the exact p-value", async () => {
  const few = [0.5, -0.2, 0.3, 0.1, 0.4, -0.1, 0.2, 0.6, 0.05];
  const many = [...few, ...new Array(20).fill(0)]; // zeros change nothing but the number of signs
  assertAlmostEquals(await signFlip(many, options), everySign(few), 0.01);
});

Deno.test("so many differences that their sum is normal have the p-value of all sign patterns", async () => {
  const [size, up] = [20_000, 10_140];
  const values = Array.from({ length: size }, (_, index) => index < up ? 1 : -1);
  let exact = 0;
  let logChoices = -size * Math.log(2);
  for (let heads = 0; heads <= size; heads++) {
    if (Math.abs(2 * heads - size) >= 2 * up - size) exact += Math.exp(logChoices);
    logChoices += Math.log((size - heads) / (heads + 1));
  }
  assertAlmostEquals(await signFlip(values, options), exact, 1e-5);
});

Deno.test("the same seed draws the same sample, another seed another", async () => {
  const values = Array.from({ length: 30 }, (_, index) => Math.sin(index) + 0.3);
  const first = await signFlip(values, options);
  assertEquals(await signFlip(values, options), first);
  assert(await signFlip(values, { ...options, seed: 2 }) !== first);
});

Deno.test("the event loop gets its turn while a sample is drawn", async () => {
  let pauses = 0;
  const values = Array.from({ length: 1000 }, (_, index) => Math.sin(index));
  await signFlip(values, { seed: 1, pause: () => Promise.resolve(void pauses++) });
  assert(pauses >= 20, `paused ${pauses} times`);
});

const manyDraws = { seed: 1, pause: () => Promise.resolve(), draws: 400 };

async function compare(scenarios: Attempts[], alpha = ALPHA) {
  const p = await permutationTest(scenarios, manyDraws);
  const differences = differencesOf(scenarios);
  return { p, ci95: testedInterval(differences, { p, alpha }) };
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
  assert(await signFlip(differencesOf(runs), manyDraws) < ALPHA, "sign flips alone would find one");
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

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const difference = ({ baseline, candidate }: Attempts) => mean(candidate) - mean(baseline);

/** The definition for one attempt of the candidate: each attempt in its place. */
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
const attemptsUpTo = (most: number) => fc.array(score, { minLength: 1, maxLength: most });
const oneCandidate = fc.array(
  fc.record({ baseline: attemptsUpTo(3), candidate: attemptsUpTo(1) }),
  { minLength: 1, maxLength: 5 },
);
Deno.test("with one attempt on one side, the p-value is that of every choice of an attempt", async () => {
  await fc.assert(fc.asyncProperty(oneCandidate, async (scenarios) => {
    assertAlmostEquals(await shiftAttempts(scenarios, options), everyChoice(scenarios), 1e-12);
  }));
});

Deno.test("with one attempt on each side it is the sign-flip test", async () => {
  const pair = fc.record({ baseline: attemptsUpTo(1), candidate: attemptsUpTo(1) });
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

/** Batches in which ids repeat, turns fail, and some were never reached. */
const anyScore = fc.oneof(
  fc.integer({ min: 0, max: 10 }).map((value) => value / 10),
  fc.constantFrom("failed" as const, "failed without scores" as const, undefined),
);
const turn = fc.tuple(fc.constantFrom("x", "y"), anyScore, anyScore)
  .map(([id, ...attempts]): RecordedScenario[1][number] => [id, ...attempts]);
const batch = fc.array(
  fc.tuple(fc.constantFrom("a", "b", "c"), fc.array(turn, { minLength: 1, maxLength: 3 }))
    .map(([id, turns]): RecordedScenario => [id, turns]),
  { minLength: 1, maxLength: 10 },
);

Deno.test("a run compared with itself differs nowhere, whatever it holds", async () => {
  await fc.assert(fc.asyncProperty(batch, async (scenarios) => {
    const comparison = await compareTwo({
      baseline: recordedRun(scenarios),
      candidate: recordedRun(scenarios),
    });
    assertEquals(comparison.verdict, "inconclusive");
    assertEquals(comparison.only_in_baseline, { scenarios: [], turns: [], scores: [] });
    assertEquals(comparison.only_in_candidate, { scenarios: [], turns: [], scores: [] });
    assertEquals(comparison.changed, []);
    for (const { difference, p } of Object.values(comparison.scores)) {
      assertEquals([difference, p], [0, 1]);
    }
  }));
});

Deno.test("runs that change places change the sign of the difference, and nothing else", async () => {
  await fc.assert(fc.asyncProperty(batch, batch, async (one, other) => {
    const there = await compareTwo({ baseline: recordedRun(one), candidate: recordedRun(other) });
    const back = await compareTwo({ baseline: recordedRun(other), candidate: recordedRun(one) });
    assertEquals(Object.keys(there.scores), Object.keys(back.scores));
    for (const [name, score] of Object.entries(there.scores)) {
      const mirrored = back.scores[name]!;
      assertAlmostEquals(score.difference!, -mirrored.difference!, 1e-12);
      assertEquals([score.p, score.scenarios, score.turns], [
        mirrored.p,
        mirrored.scenarios,
        mirrored.turns,
      ]);
      assert(score.ci95 === null || Math.abs(score.ci95[0] + mirrored.ci95![1]) < 1e-6);
    }
    assertEquals(
      there.only_in_baseline.scenarios.toSorted(),
      back.only_in_candidate.scenarios.toSorted(),
    );
    assertEquals(there.only_in_baseline.turns.length, back.only_in_candidate.turns.length);
  }));
});

Deno.test("a sample of permutations is the same whichever run is the baseline and however they are ordered", async () => {
  const run = (attempts: number, seed: number): RecordedScenario[] =>
    Array.from({ length: 20 }, (_, index) => [
      `s${index}`,
      [[
        "t",
        ...Array.from(
          { length: attempts },
          (_, attempt) => Math.abs(Math.sin(seed + 7 * index + attempt)),
        ),
      ]],
    ]);
  const [one, other] = [run(3, 1), run(2, 5).reverse()];
  const there = await compareTwo({ baseline: recordedRun(one), candidate: recordedRun(other) });
  const back = await compareTwo({ baseline: recordedRun(other), candidate: recordedRun(one) });
  assertEquals(there.scores.overall!.p, back.scores.overall!.p);
});
