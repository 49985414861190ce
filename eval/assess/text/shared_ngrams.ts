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
