/** More than adding up and dividing can lose, and less than any two scores differ by. */
export const ROUNDING = 1e-12;

/** The same for results of longer calculations. */
export const LONG_ROUNDING = 1e-9;

/** A number for people with so many digits at most; 0.57 stays 0.57. */
export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/**
 * The same beside a limit: one that is below it is cut if it would read as if it were not, because
 * 0.69999 must not read "0.7 is below 0.7".
 */
export function roundedBelow(
  value: number,
  { limit, digits }: { limit: number; digits: number },
): number {
  const near = rounded(value, digits);
  const scale = 10 ** digits;
  return value < limit - ROUNDING && near >= limit ? Math.floor(value * scale) / scale : near;
}

/** A p-value for people, with four digits: 0.0496 and 0.0504 differ. One is never 0. */
export function formatP(p: number): string {
  return p < 0.00005 ? "<0.0001" : p.toFixed(4);
}

/** A sum without what adding up left in its last digits: 0.1 + 0.2 is 0.3. */
export function withoutNoise(sum: number): number {
  return Number(sum.toPrecision(12));
}
