import type { ThresholdFit } from "../../test/grades.ts";
import { reaches } from "../passing.ts";
import { rounded, ROUNDING } from "../../test/rounding.ts";
import { mean } from "../../score/mean.ts";

/** Compares `score >= threshold` with the grades. Each pair is a score and a mean grade. */
export function fitThreshold(
  pairs: readonly Pair[],
  { threshold, passFrom }: { threshold: number; passFrom: number },
): ThresholdFit {
  let both = 0;
  let byScore = 0;
  let byPeople = 0;
  for (const [score, people] of pairs) {
    const passes = reaches(score, threshold);
    const isPassed = reaches(people, passFrom);
    if (passes) byScore++;
    if (isPassed) byPeople++;
    if (passes && isPassed) both++;
  }
  const all = pairs.length;
  const neither = all - byScore - byPeople + both;
  const agreement = (both + neither) / all;
  const chance = (byScore * byPeople + (all - byScore) * (all - byPeople)) / all ** 2;
  return { threshold, agreement, kappa: chance === 1 ? null : (agreement - chance) / (1 - chance) };
}

/**
 * The threshold that agrees with most grades; of several, the one nearest to `passFrom`. All
 * thresholds between two adjacent scores are equivalent: the result is `passFrom` if it is among
 * them, else a short number near the middle; below all scores it is `passFrom` or 0. `null` if
 * there are no pairs.
 */
export function bestThreshold(pairs: readonly Pair[], passFrom: number): ThresholdFit | null {
  const sorted = pairs.toSorted(([a], [b]) => a - b);
  if (sorted.length === 0) return null;
  const isPassed = ([, people]: Pair) => reaches(people, passFrom);
  // Starts below all scores; each step fails one more score.
  let same = sorted.filter(isPassed).length;
  let best = { threshold: reaches(sorted[0]![0], passFrom) ? passFrom : 0, same };
  for (let index = 0; index < sorted.length;) {
    const [score] = sorted[index]!;
    while (index < sorted.length && sorted[index]![0] - score <= ROUNDING) {
      same += isPassed(sorted[index]!) ? -1 : 1;
      index++;
    }
    const next = sorted[index]?.[0] ?? 1; // above the last score nothing passes
    if (next - score <= ROUNDING) break;
    const isBetween = !reaches(score, passFrom) && reaches(next, passFrom);
    const threshold = isBetween ? passFrom : shortBetween(score, next);
    const isNearer = Math.abs(threshold - passFrom) < Math.abs(best.threshold - passFrom);
    if (same > best.same || (same === best.same && isNearer)) best = { threshold, same };
  }
  return fitThreshold(pairs, { threshold: best.threshold, passFrom });
}

const MOST_DIGITS = 12;

/** The shortest number between two scores, because people set it as their threshold. */
function shortBetween(score: number, next: number): number {
  const middle = (score + next) / 2;
  for (let digits = 1; digits <= MOST_DIGITS; digits++) {
    const short = rounded(middle, digits);
    if (!reaches(score, short) && reaches(next, short)) return short;
  }
  return middle;
}

/** Two values of one item. */
export type Pair = readonly [number, number];

/**
 * Krippendorff's alpha of values whose distance counts squared: 1 is perfect agreement, 0 is
 * agreement by chance. Each unit has the values of its raters; a unit with fewer than two values
 * does not count. `null` if no unit has two values, or if all values are the same. K. Krippendorff,
 * "Computing Krippendorff's Alpha-Reliability" (2011).
 */
export function krippendorffAlpha(units: readonly (readonly number[])[]): number | null {
  const pairable = units.filter((values) => values.length >= 2);
  const values = pairable.flat();
  const expected = disagreement(values) / (values.length - 1);
  if (!(expected > 0)) return null;
  const observed = pairable.reduce(
    (sum, unit) => sum + disagreement(unit) / (unit.length - 1),
    0,
  );
  return 1 - observed / expected;
}

/** Over all ordered pairs of values: the sum of their squared distances; 0 if all are the same. */
function disagreement(values: readonly number[]): number {
  const lowest = values.reduce((least, value) => Math.min(least, value), Infinity);
  const highest = values.reduce((most, value) => Math.max(most, value), -Infinity);
  if (highest - lowest <= ROUNDING) return 0; // rounding errors of the mean would not be 0
  const average = mean(values)!;
  const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
  return 2 * values.length * squares;
}
