import { ROUNDING } from "../../shared/rounding.ts";

/** How values differ: `nominal` as categories, `interval` by the square of their distance. */
type Metric = "nominal" | "interval";

/**
 * Krippendorff's alpha: 1 is perfect agreement, 0 is what chance gives. Each unit holds the values
 * that raters gave it; missing values are simply not there, and a unit with one value does not
 * count. `null` if no unit has two values, or if all values are the same: then there is nothing to
 * agree about. K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
 */
export function krippendorffAlpha(
  units: readonly (readonly (number | string)[])[],
  metric: Metric,
): number | null {
  const disagreement = metric === "nominal" ? ofCategories : ofDistances;
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

/** Over all ordered pairs of values: how many differ. */
function ofCategories(values: readonly (number | string)[]): number {
  const counts = new Map<number | string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const equal = [...counts.values()].reduce((sum, count) => sum + count ** 2, 0);
  return values.length ** 2 - equal;
}

/** Over all ordered pairs of values: the sum of their squared distances; 0 if all are the same. */
function ofDistances(values: readonly (number | string)[]): number {
  const numbers = values as readonly number[];
  const lowest = numbers.reduce((least, value) => Math.min(least, value), Infinity);
  const highest = numbers.reduce((most, value) => Math.max(most, value), -Infinity);
  if (highest - lowest <= ROUNDING) return 0; // their mean need not be the same number
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  const squares = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return 2 * numbers.length * squares;
}
