/** How often each item occurs. */
export function countItems<T>(items: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** How many items two bags share, each as often as it occurs in both. */
export function countShared<T>(left: Map<T, number>, right: Map<T, number>): number {
  let shared = 0;
  for (const [item, count] of left) shared += Math.min(count, right.get(item) ?? 0);
  return shared;
}

/** The harmonic mean of precision and recall; 0 if nothing is shared. */
export function f1(shared: number, { found, wanted }: { found: number; wanted: number }): number {
  if (shared === 0) return 0;
  const precision = shared / found;
  const recall = shared / wanted;
  return 2 * precision * recall / (precision + recall);
}
