/** Bits of a machine word in use: a sum of two such words and a carry stays a 32-bit integer. */
const BITS = 30;
const ONES = 2 ** BITS - 1;

/**
 * Length of the longest common subsequence, bit-parallel (Hyyrö 2004): a bit a token of the right
 * side, a row a token of the left. Only the words of a row that can change are visited: those in
 * which the token occurs, and those that a carry reaches.
 */
export function lcsLength(left: readonly string[], right: readonly string[]): number {
  let start = 0;
  let leftEnd = left.length;
  let rightEnd = right.length;
  while (start < leftEnd && start < rightEnd && left[start] === right[start]) start++;
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) {
    leftEnd--;
    rightEnd--;
  }
  const trimmed = left.length - leftEnd + start;
  if (leftEnd === start || rightEnd === start) return trimmed;

  if (rightEnd - start <= BITS) {
    return trimmed + shortLcs(left.slice(start, leftEnd), right.slice(start, rightEnd));
  }
  const masks = occurrenceMasks(right.slice(start, rightEnd));
  const row = new Int32Array(Math.ceil((rightEnd - start) / BITS)).fill(ONES);
  for (let i = start; i < leftEnd; i++) {
    const mask = masks.get(left[i]!);
    if (mask?.dense) advanceDense(row, mask.dense);
    else if (mask) advance(row, mask);
  }
  // A bit turned to 0 is a step of the subsequence; the unused bits at the end stay 1.
  let zeros = 0;
  for (const word of row) zeros += popCount(~word & ONES);
  return trimmed + zeros;
}

/** The same if a row is one word. */
function shortLcs(left: readonly string[], right: readonly string[]): number {
  const masks = new Map<string, number>();
  right.forEach((token, position) => {
    masks.set(token, (masks.get(token) ?? 0) | (1 << position));
  });
  let row = ONES;
  for (const token of left) {
    const matched = row & (masks.get(token) ?? 0);
    row = ((row + matched) & ONES) | (row ^ matched);
  }
  return popCount(~row & ONES);
}

/** The words of a token's bit row that are not 0: their indices, ascending, and their bits. */
interface Mask {
  indices: number[];
  bits: number[];
  /** The whole row of a frequent token: looking it up costs less than walking a long list. */
  dense?: Int32Array;
}

function occurrenceMasks(tokens: readonly string[]): Map<string, Mask> {
  const masks = new Map<string, Mask>();
  tokens.forEach((token, position) => {
    const index = Math.floor(position / BITS);
    const bit = 1 << (position % BITS);
    let mask = masks.get(token);
    if (!mask) masks.set(token, mask = { indices: [], bits: [] });
    const last = mask.indices.length - 1;
    if (mask.indices[last] === index) mask.bits[last]! |= bit;
    else {
      mask.indices.push(index);
      mask.bits.push(bit);
    }
  });
  const length = Math.ceil(tokens.length / BITS);
  for (const mask of masks.values()) {
    if (mask.indices.length * 4 < length) continue;
    mask.dense = new Int32Array(length);
    for (let k = 0; k < mask.indices.length; k++) mask.dense[mask.indices[k]!] = mask.bits[k]!;
  }
  return masks;
}

/** `row = (row + (row & mask)) | (row & ~mask)`, as one long integer. */
function advance(row: Int32Array, { indices, bits }: Mask): void {
  let next = 0;
  for (let k = 0; k < indices.length; k++) {
    const index = indices[k]!;
    if (index < next) continue;
    next = index;
    let carry = 0;
    let at = k;
    do {
      const occurs = indices[at] === next ? bits[at++]! : 0;
      const word = row[next]!;
      const sum = word + (word & occurs) + carry;
      row[next] = (sum & ONES) | (word & ~occurs);
      carry = sum >>> BITS;
      next++;
    } while (carry === 1 && next < row.length);
    k = at - 1;
  }
}

function advanceDense(row: Int32Array, mask: Int32Array): void {
  let carry = 0;
  for (let i = 0; i < row.length; i++) {
    const word = row[i]!;
    const matched = word & mask[i]!;
    const sum = (word + matched + carry) | 0;
    row[i] = (sum & ONES) | (word ^ matched);
    carry = sum >>> BITS;
  }
}

function popCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
