import { Decimal } from "decimal.js";

const DIGITS = 1000;

/**
 * As many digits as a number may have before it overflows, so that whole numbers are never
 * rounded; the bound on small numbers keeps a remainder from taking millions of steps.
 */
export const Exact = Decimal.clone({
  defaults: true,
  precision: DIGITS,
  maxE: DIGITS - 1,
  minE: -DIGITS,
  modulo: Decimal.EUCLID, // a remainder is never negative
});

/**
 * For functions whose results are never exact, where a thousand digits would cost seconds. Its
 * range is wider than that of `Exact`: where a square overflows, the arc tangent never ends.
 */
export const Rough = Decimal.clone({ defaults: true, precision: 64, maxE: 10_000, minE: -10_000 });

/** As people write numbers: up to 40 digits as they are, others to 20; whole ones in full. */
export function formatNumber(value: Decimal): string {
  // A long whole number whose last digits are all zero is a power of ten, or was rounded.
  const isInFull = value.isInteger() && (value.e < 64 || value.precision() > 64);
  if (isInFull) return value.toFixed();
  const shown = value.precision() <= 40 ? value : value.toSignificantDigits(20);
  return Math.abs(shown.e) > 20 ? shown.toExponential() : shown.toFixed();
}
