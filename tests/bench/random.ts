/** Numbers in [0, 1), always the same ones (Park and Miller). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}

/** A copy in random order. */
export function shuffle<T>(items: T[], random: () => number): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}
