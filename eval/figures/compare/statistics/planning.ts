import { normalCdf, normalQuantile } from "../../summary/mean_interval.ts";
import { LONG_ROUNDING } from "../../../test/rounding.ts";

/** The power that plans aim for. */
const POWER = 0.8;

/** Plans have at most this many scenarios. */
const MOST_SCENARIOS = 1e9;

/** A difference between two runs, in any unit. */
interface PlannedDifference {
  difference: number;
  /** The standard deviation of the scenarios' differences. */
  stdev: number;
  /** The level of the test. */
  alpha: number;
  /** All differences are multiples of it, as for passes and failures; 0 if unset. */
  step?: number;
}

/** In a difference of 1: grades from 0 to 10, or means of a few passes, have fewer. */
const MOST_STEPS = 60;

/** The step that all of these values are multiples of; 0 if there is none. */
export function stepOf(values: number[]): number {
  for (let steps = 1; steps <= MOST_STEPS; steps++) {
    const isMultiple = (value: number) =>
      Math.abs(value * steps - Math.round(value * steps)) < LONG_ROUNDING;
    if (values.every(isMultiple)) return 1 / steps;
  }
  return 0;
}

/**
 * How many scenarios the paired test needs to show a difference with 80 % power. `null` if there is
 * no difference to show, or if `MOST_SCENARIOS` do not show it.
 */
export function scenariosNeeded(planned: PlannedDifference): number | null {
  const { difference, stdev, alpha, step = 0 } = planned;
  if (difference === 0) return null;
  const test = { effect: Math.abs(difference) / stdev, alpha, step: step / stdev };
  let low = fewestScenarios(alpha) - 1;
  let high = low + 1;
  while (powerOf(high, test) < POWER) {
    if (high >= MOST_SCENARIOS) return null;
    low = high;
    high = Math.min(2 * high, MOST_SCENARIOS);
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (powerOf(middle, test) < POWER) low = middle;
    else high = middle;
  }
  return high;
}

/** With fewer, not even differences of the same sign are significant: 2^(1 − n) > α. */
function fewestScenarios(alpha: number): number {
  return Math.ceil(1 - Math.log2(alpha));
}

/**
 * The chance that sign flips reject. The sum of n flipped differences has the variance Σd², so they
 * reject if Σd / √Σd² passes a quantile z, which is t > z √((n − 1) / (n − z²)) for the t-statistic
 * of the differences. t is noncentral; Johnson and Welch's (1940) normal approximation.
 * Flipped sums of multiples of a step lie two steps apart, and ties count against the difference:
 * hence the continuity correction.
 */
function powerOf(
  scenarios: number,
  { effect, alpha, step }: { effect: number; alpha: number; step: number },
): number {
  if (effect === Infinity) return 1;
  const z = flippedQuantile(alpha, { scenarios, effect });
  if (scenarios <= z * z) return 0;
  const degrees = scenarios - 1;
  const critical = z * Math.sqrt(degrees / (scenarios - z * z));
  const centre = (effect - step / scenarios) * Math.sqrt(scenarios);
  return normalCdf((centre - critical) / Math.sqrt(1 + critical ** 2 / (2 * degrees)));
}

/**
 * The quantile of a sum of flipped differences in units of √Σd². Such a sum is bounded, so that its
 * tails are lighter than the normal ones: its fourth cumulant is −2 Σd⁴ / (Σd²)², here that of
 * normal differences (Cornish and Fisher's expansion).
 */
function flippedQuantile(
  alpha: number,
  { scenarios, effect }: { scenarios: number; effect: number },
): number {
  const z = normalQuantile(1 - alpha / 2);
  const square = effect * effect;
  const kurtosis = (3 + 6 * square + square * square) / (1 + square) ** 2;
  return z - (z ** 3 - 3 * z) * kurtosis / (12 * scenarios);
}
