/**
 * The weights of several tests. The headline has half of all, so that many other scores do not hide
 * what is asked first; the others share the rest. Without a headline all are alike.
 */
export function weighTests(names: string[], headline?: string): number[] {
  const others = names.filter((name) => name !== headline).length;
  return names.map((name) => name === headline ? Math.max(1, others) : 1);
}

/** The least share of the level that one of `count` tests has, of which one is the headline's. */
export function shareOf(count: number, { isHeadline }: { isHeadline: boolean }): number {
  if (count === 1) return 1;
  return isHeadline ? 1 / 2 : 1 / (2 * (count - 1));
}

/**
 * Holm's step-down correction: what each of several p-values is worth when all were looked at. The
 * chance that any of them falls to α by luck stays at most α, however they depend on one another.
 * `weights` say how α is shared, as in Holm's weighted form; they do not depend on the values.
 */
export function holm(values: number[], weights: number[] = values.map(() => 1)): number[] {
  const ascending = values.map((p, index) => ({ p, index, weight: weights[index]! }))
    .sort((a, b) => a.p / a.weight - b.p / b.weight);
  const adjusted = new Array<number>(values.length);
  let left = weights.reduce((sum, weight) => sum + weight, 0);
  let floor = 0;
  for (const { p, index, weight } of ascending) {
    floor = Math.max(floor, Math.min(1, p * left / weight));
    adjusted[index] = floor;
    left -= weight;
  }
  return adjusted;
}
