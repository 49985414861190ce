import { createRandom } from "./random.ts";

/** Up to 2^14 rearrangements are tried one by one. */
export const EXACT_UP_TO = 14;
/** Of more a sample is drawn. 1 in 10,000 is far below what any correction here asks for. */
export const DRAWN = 10_000;

/** One way to divide the units into two parts; the part that holds none has the mean NaN. */
export type VisitPartition = (meanOfFlipped: number, meanOfRest: number) => void;

/** Ways to divide some values in two, one after another. */
export interface Partitions {
  readonly count: number;
  readonly isExact: boolean;
  /** The next `amount` of them. The first one flips nothing. */
  visit(amount: number, visit: VisitPartition): void;
}

/**
 * All ways to divide some values into those that are flipped and the rest, or a seeded sample of
 * them. Sums come from tables of eight values per byte, so that a thousand values cost 125 steps.
 */
export function createPartitions(
  values: number[],
  { seed, draws = DRAWN }: { seed: number; draws?: number | undefined },
): Partitions {
  const { sums, sizes, groups } = tabulate(values);
  const total = values.reduce((sum, value) => sum + value, 0);
  const isExact = values.length - 1 <= EXACT_UP_TO; // one sign may stay
  const count = isExact ? 2 ** Math.max(0, values.length - 1) : draws;
  const random = createRandom(seed);
  let position = 0;

  return {
    count,
    isExact,
    visit(amount, visit) {
      const end = Math.min(count, position + amount);
      for (; position < end; position++) {
        let sum = 0;
        let size = 0;
        let word = position; // counts through all of them; the last value is never flipped
        for (let group = 0; group < groups && position > 0; group++) {
          if (!isExact && group % 4 === 0) word = random();
          const cell = group * 256 + (word & 255);
          sum += sums[cell]!;
          size += sizes[cell]!;
          word >>>= 8;
        }
        visit(sum / size, (total - sum) / (values.length - size));
      }
    },
  };
}

/** For each eight values and each byte: the sum and the number of the values whose bits are set. */
function tabulate(values: number[]) {
  const groups = Math.ceil(values.length / 8);
  const sums = new Float64Array(groups * 256);
  const sizes = new Uint8Array(groups * 256);
  for (let group = 0; group < groups; group++) {
    const members = values.slice(group * 8, group * 8 + 8);
    for (let byte = 1; byte < 256; byte++) {
      const highest = 31 - Math.clz32(byte);
      const cell = group * 256 + byte;
      const rest = cell - (1 << highest);
      const value = members[highest];
      sums[cell] = sums[rest]! + (value ?? 0);
      sizes[cell] = sizes[rest]! + (value === undefined ? 0 : 1);
    }
  }
  return { sums, sizes, groups };
}
