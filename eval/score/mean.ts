/** `null` for an empty list. */
export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** The variance of a sample (n − 1); `null` for fewer than two values. */
export function sampleVariance(values: readonly number[]): number | null {
  if (values.length < 2) return null;
  const average = mean(values)!;
  return values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1);
}
