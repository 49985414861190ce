/** One of several tests: its corrected p-value, and the level that it is held to. */
export interface CorrectedTest {
  p: number;
  level: number;
}

/**
 * Holm's step-down correction: what each of several p-values is worth when all were looked at. The
 * chance that any of them falls below α by luck is at most α, however they depend on one another. A
 * test's own p-value is below its level exactly if the corrected one is below α, so an interval at
 * that level agrees with it.
 */
export function holm(values: number[], alpha: number): CorrectedTest[] {
  const ascending = values.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const corrected = new Array<CorrectedTest>(values.length);
  let left = values.length; // tests that share the level
  let largest = 0;
  for (const [position, { p, index }] of ascending.entries()) {
    largest = Math.max(largest, Math.min(1, p * (values.length - position)));
    corrected[index] = { p: largest, level: alpha / left };
    if (largest < alpha) left--;
  }
  return corrected;
}
