import { mean } from "../assess/mean.ts";

export type Interval = [low: number, high: number];

/** What is left of 1 in an interval. */
export const ALPHA = 0.05;

/** Of fewer values every interval that keeps its promise is nearly the whole scale. */
export const FEWEST_FOR_INTERVAL = 5;

const PRECISION = 1e-10;
/** Of a quantile. */
const CLOSE = 1e-7;
const MOST_STEPS = 100;

interface IntervalOptions {
  /** The share of samples whose interval may miss the mean. */
  alpha?: number;
  /** The ends of the scale on which the values lie. */
  scale?: Interval;
}

/**
 * An interval for the mean of independent values on a bounded scale, whatever their distribution: the
 * bounds of Learned-Miller and Thomas (2020). The lower end takes the values and one more at the low
 * end of the scale, weights them at random (Dirichlet, all alike), and is the `alpha / 2` quantile of
 * their mean; the upper end likewise. So it allows for values that were not seen yet, is continuous
 * in the data, and for passes and failures equals Clopper and Pearson's interval.
 *
 * `highs` is set if values are not known exactly: then each lies between its low and its high, and
 * the interval holds whichever they are. `null` for fewer than 5 values.
 *
 * ```ts
 * import { assert } from "@std/assert";
 *
 * const [low, high] = meanInterval([1, 1, 1, 1, 1])!; // five passes
 * assert(0.47 < low && low < 0.48 && high === 1);
 * ```
 */
export function meanInterval(
  lows: readonly number[],
  highs: readonly number[] = lows,
  { alpha = ALPHA, scale: [from, to] = [0, 1] }: IntervalOptions = {},
): Interval | null {
  if (lows.length < FEWEST_FOR_INTERVAL) return null;
  const mirrored = highs.map((value) => -value);
  return [
    lowerEnd(lows, { unseen: from, chance: alpha / 2 }),
    -lowerEnd(mirrored, { unseen: -to, chance: alpha / 2 }),
  ];
}

/** The same for a mean of differences between values in [0, 1]. */
export function differenceInterval(
  lows: readonly number[],
  highs: readonly number[] = lows,
  alpha = ALPHA,
): Interval | null {
  return meanInterval(lows, highs, { alpha, scale: [-1, 1] });
}

/** More different values are counted in bins of this many; a run may have a hundred thousand. */
const BINS = 4096;

function lowerEnd(
  values: readonly number[],
  { unseen, chance }: { unseen: number; chance: number },
): number {
  const counts = countValues(values, unseen);
  const wanted = normalQuantile(chance);
  let low = unseen;
  let high = mean(values)!;
  let end = high;
  let slope = 0; // that of the step before is near
  for (let step = 0; step < MOST_STEPS && high - low > PRECISION; step++) {
    const found = locate(counts, { end, start: slope });
    slope = found.slope;
    if (found.quantile < wanted) low = end;
    else high = end;
    const miss = found.quantile - wanted;
    if (Math.abs(miss) < CLOSE) return end;
    const newton = end - miss / found.growth;
    const isStep = newton > low && newton < high && Math.abs(newton - end) > PRECISION;
    end = isStep ? newton : (low + high) / 2;
  }
  return low;
}

/** Equal values together: passes and failures are two, however many there are. */
function countValues(values: readonly number[], unseen: number): [value: number, count: number][] {
  const counts = new Map([[unseen, 1]]);
  for (const value of values) {
    const counted = values.length > BINS ? Math.floor(value * BINS) / BINS : value;
    counts.set(counted, (counts.get(counted) ?? 0) + 1);
  }
  return [...counts];
}

/**
 * Where `end` lies among the randomly weighted means of the values: the chance that Σ w (value − end)
 * is below 0 with exponential weights w, as the quantile of a normal distribution. By the saddlepoint
 * approximation of Barndorff-Nielsen (1986), whose error is below 2 % of the chance here. `growth` is
 * the change of the quantile with the end, `slope` the saddlepoint.
 */
function locate(
  counts: [value: number, count: number][],
  { end, start }: { end: number; start: number },
): { quantile: number; growth: number; slope: number } {
  const offsets = counts.map(([value, count]) => [value - end, count] as const);
  const size = offsets.reduce((sum, [, count]) => sum + count, 0);
  const largest = offsets.reduce((most, [offset]) => Math.max(most, offset), -Infinity);
  const smallest = offsets.reduce((least, [offset]) => Math.min(least, offset), Infinity);
  if (largest <= 0 || smallest >= 0) {
    return { quantile: largest <= 0 ? Infinity : -Infinity, growth: 1, slope: 0 };
  }
  const slope = findSaddlepoint(offsets, { low: 1 / smallest, high: 1 / largest, start });
  let cumulant = 0;
  let curvature = 0;
  for (const [offset, count] of offsets) {
    cumulant -= count * Math.log(1 - offset * slope);
    curvature += count * (offset / (1 - offset * slope)) ** 2;
  }
  const root = Math.sign(slope) * Math.sqrt(Math.max(0, -2 * cumulant));
  const scaled = slope * Math.sqrt(curvature);
  // Near the mean itself both vanish; no end is sought there.
  if (Math.abs(root) < 1e-5) return { quantile: 0, growth: size / Math.sqrt(curvature), slope };
  return { quantile: root + Math.log(scaled / root) / root, growth: slope * size / root, slope };
}

/** Where the derivative of the cumulant function, Σ offset / (1 − offset s), is 0; by Newton's steps. */
function findSaddlepoint(
  offsets: (readonly [offset: number, count: number])[],
  { low, high, start }: { low: number; high: number; start: number },
): number {
  let slope = start > low && start < high ? start : 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    let first = 0;
    let second = 0;
    for (const [offset, count] of offsets) {
      const term = offset / (1 - offset * slope);
      first += count * term;
      second += count * term * term;
    }
    if (first > 0) high = slope;
    else low = slope;
    const newton = slope - first / second;
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    const moved = Math.abs(next - slope);
    slope = next;
    if (moved <= PRECISION * Math.abs(slope)) break;
  }
  return slope;
}

/** The series below needs no more terms than this for any value within ±8. */
const MOST_TERMS = 200;
const FARTHEST = 8;

/** The chance that a standard normal value is at most `x`; exact to 1e-14. */
export function normalCdf(x: number): number {
  if (x <= -FARTHEST) return 0;
  if (x >= FARTHEST) return 1;
  let term = x;
  let sum = x;
  for (let n = 1; n <= MOST_TERMS && Math.abs(term) > 1e-17; n++) {
    term *= x * x / (2 * n + 1);
    sum += term;
  }
  return 0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
}

/** The value that a standard normal one stays below with this chance, which is in (0, 1). */
export function normalQuantile(chance: number): number {
  let low = -FARTHEST;
  let high = FARTHEST;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < chance) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
