/**
 * Holm's step-down correction: what each of several p-values is worth when all were looked at. The
 * chance that any of them falls to α by luck stays at most α, however they depend on one another.
 */
export function holm(values: number[]): number[] {
  const ascending = values.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(values.length);
  let floor = 0;
  for (const [rank, { p, index }] of ascending.entries()) {
    floor = Math.max(floor, Math.min(1, p * (values.length - rank)));
    adjusted[index] = floor;
  }
  return adjusted;
}
