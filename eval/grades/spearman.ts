import { mean } from "../assess/mean.ts";
import { ROUNDING } from "../../shared/rounding.ts";

/** A pair of values of one thing. */
export type Pair = readonly [number, number];

/**
 * Spearman's rank correlation; equal values share the mean of their ranks. `null` for fewer than
 * three pairs, or if one side does not vary.
 */
export function spearman(pairs: readonly Pair[]): number | null {
  if (pairs.length < 3) return null;
  const one = ranks(pairs.map(([value]) => value));
  const other = ranks(pairs.map(([, value]) => value));
  const [a, b] = [mean(one)!, mean(other)!];
  let product = 0;
  let squaresOfOne = 0;
  let squaresOfOther = 0;
  for (const [index, rank] of one.entries()) {
    product += (rank - a) * (other[index]! - b);
    squaresOfOne += (rank - a) ** 2;
    squaresOfOther += (other[index]! - b) ** 2;
  }
  return squaresOfOne === 0 || squaresOfOther === 0
    ? null
    : product / Math.sqrt(squaresOfOne * squaresOfOther);
}

function ranks(values: number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const found = new Array<number>(values.length);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && order[to]!.value - order[from]!.value <= ROUNDING) to++;
    const shared = (from + to + 1) / 2; // ranks from + 1 to `to`
    for (let place = from; place < to; place++) found[order[place]!.index] = shared;
    from = to;
  }
  return found;
}
