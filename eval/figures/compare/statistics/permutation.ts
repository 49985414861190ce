import { mean } from "../../../score/mean.ts";
import {
  differenceInterval,
  type Interval,
  normalCdf,
  normalQuantile,
} from "../../summary/mean_interval.ts";
import { ROUNDING } from "../../../test/rounding.ts";

/** The description of the test in answers. */
export const METHOD = {
  test:
    "paired sign-flip permutation test over scenarios; if the runs differ in attempts, also a " +
    "permutation test of attempts within scenarios, and the larger p-value counts",
  null_hypothesis: "in every scenario the attempts of both runs come from the same distribution",
  interval:
    "the bounds of Learned-Miller and Thomas for the mean of the scenarios' differences, which lie " +
    "in [-1, 1]; 0 is in it exactly if the test does not reject",
} as const;

/**
 * Tests whether the candidate's mean over scenarios differs from the baseline's; returns the
 * p-value. The null hypothesis is that the models are equal: in every scenario the attempts of both
 * come from one distribution.
 *
 * With equally many attempts on both sides the differences of scenario means are then symmetric,
 * and sign flips are exact. They count scenarios, not attempts, so that a difference in some
 * scenarios that is reversed in others does not count as a general one.
 *
 * With unequal attempts the differences may be asymmetric. Then two tests must agree: the
 * permutation of attempts within scenarios, which is exact but does not generalise to other
 * scenarios, and the sign flips. The p-value is the larger one, so it is valid if either is.
 */
export async function permutationTest(
  scenarios: Attempts[],
  options: TestOptions,
): Promise<number> {
  const [p] = await signFlips([differencesOf(scenarios)], options);
  return Math.max(p!, await shiftUnequal(scenarios, options));
}

/** 0 for equally many attempts on both sides: then sign flips are exact. */
export async function shiftUnequal(scenarios: Attempts[], options: TestOptions): Promise<number> {
  const isBalanced = scenarios.every(({ baseline, candidate }) =>
    baseline.length === candidate.length
  );
  return isBalanced ? 0 : await shiftAttempts(scenarios, options);
}

/** Candidate − baseline for each scenario. */
export function differencesOf(scenarios: Attempts[]): number[] {
  return scenarios.map(({ baseline, candidate }) => mean(candidate)! - mean(baseline)!);
}

/**
 * The interval of a mean of the scenarios' differences that was tested at the level `alpha`. The
 * interval for bounded values allows for differences that were not observed; the test assumes equal
 * models and rejects earlier. To make them consistent, the test decides whether 0 is in the
 * interval: if it rejects, the end next to 0 is at least the test-based limit (Miettinen, 1976),
 * which is 0 if p equals the level.
 */
export function testedInterval(
  differences: number[],
  { p, alpha }: { p: number; alpha: number },
): Interval | null {
  const interval = differenceInterval(differences, alpha);
  if (!interval) return null;
  const [low, high] = interval;
  if (p >= alpha) return [Math.min(low, 0), Math.max(high, 0)];
  const limit = (1 - normalQuantile(alpha / 2) / normalQuantile(p / 2)) * mean(differences)!;
  return limit > 0 ? [Math.max(low, limit), high] : [low, Math.min(high, limit)];
}

/** One of several tests: its corrected p-value and its level. */
export interface CorrectedTest {
  p: number;
  level: number;
}

/**
 * Holm's step-down correction of several p-values. The chance that any of them is below α by chance
 * is at most α, whatever their dependence. A test's own p-value is below its level exactly if the
 * corrected one is below α, so an interval at that level agrees with it.
 */
export function holm(values: number[], alpha: number): CorrectedTest[] {
  const ascending = values.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const corrected = new Array<CorrectedTest>(values.length);
  let left = values.length; // tests that share the level
  let largest = 0;
  for (const [position, { p, index }] of ascending.entries()) {
    largest = Math.max(largest, Math.min(1, p * (values.length - position)));
    corrected[index] = { p: largest, level: alpha / left };
    if (largest < alpha) left--;
  }
  return corrected;
}

/** Up to 2^14 rearrangements are all tried. */
const EXACT_UP_TO = 14;
/** The size of the sample if there are more: 1 in 10,000 is far below any corrected level. */
export const DRAWN = 10_000;
/** Differences whose signs are drawn at a time. */
const BLOCK = 512;
const SHIFTS_PER_STEP = 200;

/** The same seed gives the same result. */
export interface TestOptions {
  seed: number;
  /** Awaited between steps; see `createYielder`. */
  pause: () => Promise<void>;
  /** How many rearrangements are drawn if they are too many to try all. */
  draws?: number | undefined;
}

/**
 * The paired permutation test of the mean of independent differences, for each list of them: if
 * neither side is better, each difference could have had the other sign. The p-value is the share of
 * all signs (or of a seeded sample) whose sum is at least as far from 0 as the real one. With fewer
 * than 6 differences it is never below 0.05. Lists of the same length share their signs.
 */
export async function signFlips(lists: number[][], options: TestOptions): Promise<number[]> {
  const values = new Map<number[], number>();
  const drawn = lists.filter((list) => {
    const p = normalFlips(list);
    if (p !== undefined) values.set(list, p);
    return p === undefined;
  });
  for (const [length, alike] of Map.groupBy(drawn, (list) => list.length)) {
    const flipped = await flipAll(alike, length, options);
    alike.forEach((list, index) => values.set(list, shareAsFar(list, flipped[index]!)));
  }
  return lists.map((list) => values.get(list)!);
}

/** The share of rearrangements whose sum is at least as far from 0 as the real one. */
function shareAsFar(differences: number[], flipped: Float64Array): number {
  const total = differences.reduce((sum, value) => sum + value, 0);
  const least = Math.abs(total) - ROUNDING * differences.length;
  return flipped.filter((sum) => Math.abs(total - 2 * sum) >= least).length / flipped.length;
}

/** So many differences of similar size have a flipped sum that is as good as normal. */
const NORMAL_FROM = 5_000;

/**
 * The share from the normal distribution, which is closer to that of all signs than a sample of
 * them. It is not below it: sums of equal differences lie twice such a difference apart.
 */
function normalFlips(differences: number[]): number | undefined {
  let [total, squares, fourths, largest] = [0, 0, 0, 0];
  for (const value of differences) {
    total += value;
    squares += value ** 2;
    fourths += value ** 4;
    largest = Math.max(largest, Math.abs(value));
  }
  if (fourths === 0 || squares ** 2 < NORMAL_FROM * fourths) return undefined;
  const distance = Math.max(0, Math.abs(total) - largest);
  return 2 * normalCdf(-distance / Math.sqrt(squares));
}

/** For each list of this length, the sums of the differences that each rearrangement flips. */
async function flipAll(
  lists: number[][],
  length: number,
  { seed, pause, draws = DRAWN }: TestOptions,
): Promise<Float64Array[]> {
  const isExact = length - 1 <= EXACT_UP_TO; // one sign can be fixed
  const count = isExact ? 2 ** Math.max(0, length - 1) : draws;
  const random = createRandom(seed);
  const flipped = lists.map(() => new Float64Array(count)); // the first flips nothing
  for (let start = 0; start < length; start += BLOCK) {
    const width = Math.ceil(Math.min(BLOCK, length - start) / 32);
    // All signs are enumerated (the last value is never flipped), or drawn.
    const words = Array.from({ length: width }, () => new Uint32Array(count));
    for (let position = 1; position < count; position++) {
      for (const word of words) word[position] = isExact ? position : random();
    }
    await pause();
    for (const [index, word] of words.entries()) {
      for (const [list, sums] of flipped.entries()) {
        addFlipped(sums, word, tabulate(lists[list]!, start + 32 * index));
        await pause();
      }
    }
  }
  return flipped;
}

/** Adds the sums of those of 32 values whose bits are set. */
function addFlipped(sums: Float64Array, word: Uint32Array, table: Float64Array): void {
  for (let position = 1; position < sums.length; position++) {
    const bits = word[position]!;
    sums[position]! += table[bits & 255]! + table[256 + (bits >>> 8 & 255)]! +
      table[512 + (bits >>> 16 & 255)]! + table[768 + (bits >>> 24)]!;
  }
}

/** For each byte of 32 values from `start` on: the sum of those whose bits are set. */
function tabulate(values: number[], start: number): Float64Array {
  const sums = new Float64Array(4 * 256);
  for (let group = 0; group < 4; group++) {
    for (let byte = 1; byte < 256; byte++) {
      const highest = 31 - Math.clz32(byte);
      const cell = group * 256 + byte;
      sums[cell] = sums[cell - (1 << highest)]! + (values[start + group * 8 + highest] ?? 0);
    }
  }
  return sums;
}

/**
 * A seeded source of 32 random bits per call (sfc32): the same seed gives the same sequence on
 * every machine, which `Math.random` does not. Not for secrets.
 */
export function createRandom(seed: number): () => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next = () => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + result | 0;
    return result >>> 0;
  };
  for (let warmup = 0; warmup < 12; warmup++) next(); // so that similar seeds differ from the start
  return next;
}

/** The scores of one scenario's attempts in both runs. */
export interface Attempts {
  baseline: number[];
  candidate: number[];
}

/**
 * A permutation test that is exact for any numbers of attempts: if the models are equal, the
 * attempts of a scenario are interchangeable between the runs. Sign flips are not exact for unequal
 * numbers: the mean of ten attempts with a rare miss often differs a little from one attempt
 * without a miss, and seldom much in the other direction, so that the differences are not
 * symmetric.
 *
 * The attempts of a scenario are arranged in a circle, the baseline's first. The circle of each
 * scenario is rotated by some steps, and the attempts at the candidate's positions count as the
 * candidate's. Rotations form a group, which is sufficient for an exact test, and running sums make
 * one as cheap as a sign flip. With one attempt on one side they are all permutations; with one on
 * each side they are the sign flips. The p-value is the share of rotations whose difference is at
 * least as far from 0 as the real one.
 */
export async function shiftAttempts(
  scenarios: Attempts[],
  { seed, pause, draws = DRAWN }: TestOptions,
): Promise<number> {
  const { sizes, turned } = turnCircles(scenarios);
  const all = sizes.reduce((product, size) => product * size, 1);
  const isExact = all <= 2 ** EXACT_UP_TO;
  const count = isExact ? all : draws;
  const random = createRandom(seed);
  let least = 0;
  let asFar = 0;
  for (let position = 0; position < count; position++) {
    let difference = 0; // summed over scenarios
    let rest = position; // enumerates all rotations; the first is the real one
    let start = 0;
    for (const size of sizes) {
      const step = isExact
        ? rest % size
        : position === 0
        ? 0
        : Math.floor(random() / 2 ** 32 * size);
      rest = Math.floor(rest / size);
      difference += turned[start + step]!;
      start += size;
    }
    if (position === 0) least = Math.abs(difference) - ROUNDING * sizes.length;
    if (Math.abs(difference) >= least) asFar++;
    if (position % SHIFTS_PER_STEP === 0) await pause();
  }
  return asFar / count;
}

/** The difference of the means for each rotation of each scenario's circle, in sequence. */
function turnCircles(scenarios: Attempts[]) {
  const sizes = scenarios.map(({ baseline, candidate }) => baseline.length + candidate.length);
  const turned = new Float64Array(sizes.reduce((sum, size) => sum + size, 0));
  let start = 0;
  for (const { baseline, candidate } of scenarios) {
    const values = [...baseline, ...candidate];
    const size = values.length;
    const sum = values.reduce((sum, value) => sum + value, 0);
    let inside = candidate.reduce((sum, value) => sum + value, 0);
    for (let step = 0; step < size; step++) {
      turned[start + step] = inside / candidate.length - (sum - inside) / baseline.length;
      inside += values[step]! - values[(baseline.length + step) % size]!;
    }
    start += size;
  }
  return { sizes, turned };
}
