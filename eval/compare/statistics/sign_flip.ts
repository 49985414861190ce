import { ROUNDING } from "../../schemas/rounding.ts";

/** Up to 2^14 rearrangements are all tried. */
export const EXACT_UP_TO = 14;
/** The size of the sample if there are more: 1 in 10,000 is far below any corrected level. */
export const DRAWN = 10_000;
/** Values per step: a few milliseconds. */
const PIECE = 500_000;

/** The same seed gives the same result. */
export interface TestOptions {
  seed: number;
  /** Awaited between steps; see `createYielder`. */
  pause: () => Promise<void>;
  /** How many rearrangements are drawn if they are too many to try all. */
  draws?: number | undefined;
}

/**
 * The paired permutation test of the mean of independent differences: if neither side is better,
 * each difference could have had the other sign. The p-value is the share of all signs (or of a
 * seeded sample) whose sum is at least as far from 0 as the real one. With fewer than 6 differences
 * it is never below 0.05.
 */
export async function signFlip(
  differences: number[],
  { seed, pause, draws = DRAWN }: TestOptions,
): Promise<number> {
  const { sums, groups } = tabulate(differences);
  const total = differences.reduce((sum, value) => sum + value, 0);
  const least = Math.abs(total) - ROUNDING * differences.length;
  const isExact = differences.length - 1 <= EXACT_UP_TO; // one sign can be fixed
  const count = isExact ? 2 ** Math.max(0, differences.length - 1) : draws;
  const piece = Math.ceil(PIECE / Math.max(1, differences.length));
  const random = createRandom(seed);
  let asFar = 0;
  for (let position = 0; position < count; position++) {
    let flipped = 0; // the first flips nothing
    let word = position; // enumerates all signs; the last value is never flipped
    for (let group = 0; group < groups && position > 0; group++) {
      if (!isExact && group % 4 === 0) word = random();
      flipped += sums[group * 256 + (word & 255)]!;
      word >>>= 8;
    }
    if (Math.abs(total - 2 * flipped) >= least) asFar++;
    if (position % piece === piece - 1) await pause();
  }
  return asFar / count;
}

/** For each group of eight values and each byte: the sum of the values whose bits are set. */
function tabulate(values: number[]) {
  const groups = Math.ceil(values.length / 8);
  const sums = new Float64Array(groups * 256);
  for (let group = 0; group < groups; group++) {
    for (let byte = 1; byte < 256; byte++) {
      const highest = 31 - Math.clz32(byte);
      const cell = group * 256 + byte;
      sums[cell] = sums[cell - (1 << highest)]! + (values[group * 8 + highest] ?? 0);
    }
  }
  return { sums, groups };
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
