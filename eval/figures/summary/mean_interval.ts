import { mean } from "../../score/mean.ts";

export type Interval = [low: number, high: number];

/** The significance level; intervals have a confidence of 1 − `ALPHA`. */
export const ALPHA = 0.05;

/** With fewer values a valid interval is nearly the whole scale. */
export const FEWEST_FOR_INTERVAL = 5;

const PRECISION = 1e-10;
/** The tolerance of a quantile. */
const CLOSE = 1e-7;
const MOST_STEPS = 100;

/**
 * An interval for the mean of independent values on a bounded scale, for any distribution: the
 * bounds of Learned-Miller and Thomas (2020). For the lower end, one value at the low end of the
 * scale is added, the values get random weights (uniform Dirichlet), and the end is the `alpha / 2`
 * quantile of their mean; the upper end likewise. The interval allows for values that were not
 * observed, is continuous in the data, and equals Clopper and Pearson's for passes and failures.
 *
 * The intervals of a share `alpha` of samples may miss the mean; `scale` has the ends of the scale.
 * `null` for fewer than 5 values.
 *
 * ```ts
 * import { assert } from "@std/assert";
 *
 * const [low, high] = meanInterval([1, 1, 1, 1, 1])!; // five passes
 * assert(0.47 < low && low < 0.48 && high === 1);
 * ```
 */
export function meanInterval(
  values: readonly number[],
  { alpha = ALPHA, scale: [from, to] = [0, 1] }: { alpha?: number; scale?: Interval } = {},
): Interval | null {
  if (values.length < FEWEST_FOR_INTERVAL) return null;
  const mirrored = values.map((value) => -value);
  return [
    lowerEnd(values, { unseen: from, chance: alpha / 2 }),
    -lowerEnd(mirrored, { unseen: -to, chance: alpha / 2 }),
  ];
}

/** The same for a mean of differences between values in [0, 1]. */
export function differenceInterval(values: readonly number[], alpha = ALPHA): Interval | null {
  return meanInterval(values, { alpha, scale: [-1, 1] });
}

/** If there are more values, they are counted in this many bins; a run may have 100,000. */
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
  let slope = 0; // a step starts with that of the previous one
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

/** Counts equal values: passes and failures are only two. */
function countValues(values: readonly number[], unseen: number): [value: number, count: number][] {
  const counts = new Map([[unseen, 1]]);
  for (const value of values) {
    const counted = values.length > BINS ? Math.floor(value * BINS) / BINS : value;
    counts.set(counted, (counts.get(counted) ?? 0) + 1);
  }
  return [...counts];
}

/**
 * The position of `end` among the randomly weighted means of the values: the chance that Σ w (value
 * − end) is below 0 with exponential weights w, as a quantile of the normal distribution. Uses the
 * saddlepoint approximation of Barndorff-Nielsen (1986), whose error is below 2 % of the chance
 * here. `growth` is the derivative of the quantile with respect to `end`, `slope` the saddlepoint.
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
  // Both vanish near the mean, where no end of an interval is.
  if (Math.abs(root) < 1e-5) return { quantile: 0, growth: size / Math.sqrt(curvature), slope };
  return { quantile: root + Math.log(scaled / root) / root, growth: slope * size / root, slope };
}

/** The zero of Σ offset / (1 − offset s), the derivative of the cumulants, by Newton's method. */
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

/** The series below needs fewer terms for any value within ±8. */
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

/** The inverse of `normalCdf` for a chance in (0, 1). */
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
