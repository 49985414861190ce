/** `null` for an empty list. */
export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The variance of a sample (n − 1); `null` for fewer than two values. */
export function sampleVariance(values: readonly number[]): number | null {
  if (values.length < 2) return null;
  const average = mean(values)!;
  return values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1);
}
