import { createPartitions } from "./partitions.ts";
import { createSpans, type TestResult } from "./spans.ts";

/** Values per piece of work: a few milliseconds. */
const PIECE = 500_000;

/** The same seed gives the same result. */
export interface TestOptions {
  seed: number;
  /** Awaited between pieces of work; see `createYielder`. */
  pause: () => Promise<void>;
  /** How many rearrangements are drawn if they are too many to try all. */
  draws?: number | undefined;
}

/**
 * The paired permutation test on the mean of some independent differences: if neither side is
 * better, each difference might as well have had the other sign. With fewer than 6 differences no
 * p-value can reach 0.05, and the interval is `null`.
 */
export async function signFlip(
  differences: number[],
  { seed, pause, draws }: TestOptions,
): Promise<TestResult> {
  const partitions = createPartitions(differences, { seed, draws });
  const spans = createSpans(partitions.count);
  const piece = Math.ceil(PIECE / Math.max(1, differences.length));
  for (let done = 0; done < partitions.count; done += piece) {
    // Flipping some values gives a total as far from 0 for shifts between the means of both parts.
    partitions.visit(piece, spans.add);
    await pause();
  }
  return { ...spans.close(), isExact: partitions.isExact };
}
