import type { Decimal } from "decimal.js";
import { ToolError } from "../tool.ts";

/** The work of an operation on these values; 1 is about a microsecond on a laptop. */
export type OperationCost = (...values: Decimal[]) => number;

/** Powers with a larger exponent are calculated with 64 digits. */
export const MAX_EXACT_EXPONENT = 1e6;

const MAX_WORK = 80_000;
const MAX_LIMBS = 143; // of seven digits each, in a number of a thousand digits

/** Values are finite here, so they have digits. */
const limbs = (value: Decimal) => value.d.length;

/** Some costs depend on the lengths of the values, the others are constant. */
export const COSTS = {
  plain: () => 40,
  times: (x, y) => 40 + limbs(x!) * limbs(y!) / 40,
  div: (_x, y) => 100 + MAX_LIMBS * limbs(y!) / 20,
  mod: (_x, y) => 120 + MAX_LIMBS * limbs(y!) / 10,
  power: (x, y) => {
    if (!y!.isInteger() || y!.abs().gt(MAX_EXACT_EXPONENT)) return 2_000;
    const times = Math.abs(y!.toNumber());
    const bits = times.toString(2);
    const products = bits.length + bits.replaceAll("0", "").length - 2; // by repeated squaring
    return 50 + products * Math.min(MAX_LIMBS, limbs(x!) * times) ** 2 / 40;
  },
  factorial: (x) => 20 + Math.min(450, x!.abs().toNumber()) * 3,
  gcd: (x, y) => 60 + (limbs(x!) + limbs(y!)) ** 2 / 40,
  root: (x) => x!.isInteger() && x!.precision() > 64 ? 35_000 : 500,
  function: () => 900,
  logarithm: () => 2_500,
  arc: () => 4_000,
} as const satisfies Record<string, OperationCost>;

/**
 * Limits an evaluation by its work and not by time, so that an expression has a result on every
 * machine or on none, however slow it is.
 */
export class Budget {
  #left = MAX_WORK;

  /** Throws a `ToolError` if the work is too much, before it is done. */
  spend(work: number): void {
    this.#left -= work;
    if (this.#left < 0) throw new ToolError("cannot calculate: it takes too long");
  }
}
