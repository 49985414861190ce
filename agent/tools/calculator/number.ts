import { Decimal } from "decimal.js";

const DIGITS = 1000;

/**
 * The precision is the number of digits at which a number overflows, so that integers are never
 * rounded. The limit on small numbers keeps a remainder from taking millions of steps.
 */
export const Exact = Decimal.clone({
  defaults: true,
  precision: DIGITS,
  maxE: DIGITS - 1,
  minE: -DIGITS,
  modulo: Decimal.EUCLID, // a remainder is never negative
});

/**
 * For functions whose results are never exact: a thousand digits would take seconds. Its range is
 * wider than that of `Exact`, because the arc tangent never ends if a square overflows.
 */
export const Rough = Decimal.clone({ defaults: true, precision: 64, maxE: 10_000, minE: -10_000 });

/** Numbers of up to 40 digits and integers in full, others rounded to 20 digits. */
export function formatNumber(value: Decimal): string {
  // A long integer whose last digits are all zero is a power of ten, or was rounded.
  const isInFull = value.isInteger() && (value.e < 64 || value.precision() > 64);
  if (isInFull) return value.toFixed();
  const shown = value.precision() <= 40 ? value : value.toSignificantDigits(20);
  return Math.abs(shown.e) > 20 ? shown.toExponential() : shown.toFixed();
}
