/** Larger than rounding errors of means, and smaller than any real difference of scores. */
export const ROUNDING = 1e-12;

/** Larger than rounding errors of longer calculations. */
export const LONG_ROUNDING = 1e-9;

/** Rounds to at most `digits` decimals, for display; 0.57 stays 0.57. */
export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/**
 * Rounds a number next to its limit: down, if it is below the limit and would
 * otherwise be displayed as the limit, as in "0.7 is below 0.7".
 */
export function roundedBelow(
  value: number,
  { limit, digits }: { limit: number; digits: number },
): number {
  const near = rounded(value, digits);
  const scale = 10 ** digits;
  return value < limit - ROUNDING && near >= limit ? Math.floor(value * scale) / scale : near;
}

/** A p-value with two digits, for display. It is never 0, and one below 0.05 never reads 0.050. */
export function formatP(p: number): string {
  return p < 0.0001 ? "< 0.0001" : (p < 0.05 ? Math.min(p, 0.049) : p).toPrecision(2);
}

/** Removes rounding errors from a sum: 0.1 + 0.2 is 0.3. */
export function withoutNoise(sum: number): number {
  return Number(sum.toPrecision(12));
}
