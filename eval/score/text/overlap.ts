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

/**
 * The length of the longest common subsequence, bit-parallel (Hyyrö 2004): one bit per token of the
 * shorter list, one row per token of the longer one.
 */
export function lcsLength(left: readonly string[], right: readonly string[]): number {
  const [long, short] = left.length > right.length ? [left, right] : [right, left];
  /** The positions of each token. */
  const masks = new Map<string, bigint>();
  for (const [position, token] of short.entries()) {
    masks.set(token, (masks.get(token) ?? 0n) | (1n << BigInt(position)));
  }
  const ones = (1n << BigInt(short.length)) - 1n;
  let row = ones;
  for (const token of long) {
    const mask = masks.get(token);
    if (mask === undefined) continue;
    const matched = row & mask;
    row = ((row + matched) & ones) | (row ^ matched);
  }
  // Each 0 bit is one token of the subsequence.
  return (ones ^ row).toString(2).replaceAll("0", "").length;
}

/**
 * How many n-grams two lists share, each as often as it occurs in both, for n = 1 to `orders`. An
 * n-gram is a number derived from that of its first n − 1 tokens and its last token, because
 * strings would take several times as long.
 */
export function sharedNgrams<Token>(
  left: readonly Token[],
  right: readonly Token[],
  orders: number,
): number[] {
  const ids = new Map<Token, number>();
  const tokens = [left, right].map((list) => list.map((token) => numberOf(token, ids)));
  const found: number[] = [];
  let grams = tokens;
  let distinct = ids.size;
  for (let n = 1; n <= orders; n++) {
    const counts = new Int32Array(distinct);
    for (const gram of grams[0]!) counts[gram]!++;
    found.push(grams[1]!.filter((gram) => counts[gram]!-- > 0).length);
    const longer = new Map<number, number>();
    grams = grams.map((list, side) =>
      list.slice(0, -1).map((gram, at) =>
        numberOf(gram * ids.size + tokens[side]![at + n]!, longer)
      )
    );
    distinct = longer.size;
  }
  return found;
}

function numberOf<Key>(key: Key, numbers: Map<Key, number>): number {
  let number = numbers.get(key);
  if (number === undefined) numbers.set(key, number = numbers.size);
  return number;
}
