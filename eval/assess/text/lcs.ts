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
