import { createPartitions } from "./partitions.ts";

/** The level of the test, and what is left of 1 in the interval. */
export const ALPHA = 0.05;

/** Sums that differ by less than rounding are the same sum. */
const ROUNDING = 1e-12;
const PIECE = 500;

/** What the test says of the mean of some differences. */
export interface SignFlipResult {
  /** Two-sided; how often differences as large would come up if neither side were better. */
  p: number;
  /** 95 %; `null` where so few values can exclude nothing (fewer than 6). */
  interval: [number, number] | null;
  isExact: boolean;
}

/** The same seed gives the same result. */
export interface SignFlipOptions {
  seed: number;
  /** Awaited between pieces of work; see `createPacer`. */
  pause: () => Promise<void>;
}

/**
 * The paired permutation test on the mean of some independent differences: if neither side is
 * better, each difference might as well have had the other sign.
 *
 * The interval holds the shifts δ that the same test would not reject, so the two never disagree.
 * It needs no search: with the values divided into the flipped and the rest, the flipped total is
 * at least as far from 0 as the real one exactly when δ lies between the means of the two parts
 * (J. Hartigan's "typical values", 1969). All those spans hold the overall mean, so the interval's
 * ends are order statistics of theirs.
 */
export async function signFlip(
  differences: number[],
  { seed, pause }: SignFlipOptions,
): Promise<SignFlipResult> {
  const partitions = createPartitions(differences, seed);
  const { count, isExact } = partitions;
  const lower = new Float64Array(count);
  const upper = new Float64Array(count);
  let filled = 0;
  let asFar = 0;
  while (filled < count) {
    partitions.visit(PIECE, (one, other) => {
      const isWhole = Number.isNaN(one) || Number.isNaN(other); // nobody or everybody flipped
      const low = isWhole ? -Infinity : Math.min(one, other);
      const high = isWhole ? Infinity : Math.max(one, other);
      if (low <= ROUNDING && high >= -ROUNDING) asFar++;
      lower[filled] = low;
      upper[filled++] = high;
    });
    await pause();
  }
  lower.sort();
  upper.sort();
  const outside = Math.floor(ALPHA * count);
  const low = lower[outside]!;
  const high = upper[count - 1 - outside]!;
  return { p: asFar / count, interval: Number.isFinite(low) ? [low, high] : null, isExact };
}
