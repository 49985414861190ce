import { type BigNumber, BigNumberDependencies, create, parseDependencies } from "mathjs";

/** The part of decimal.js's constructor that is used here; mathjs declares none of it. */
export interface NumberClass {
  new (value: BigNumber | string | number): BigNumber;
  clone(options: Record<string, number>): NumberClass;
  max(...values: BigNumber[]): BigNumber;
  min(...values: BigNumber[]): BigNumber;
}

const math = create(
  { parseDependencies: parseDependencies!, BigNumberDependencies: BigNumberDependencies! },
  { number: "BigNumber" },
);

/** Reads an expression into a tree; runs nothing. Throws a `SyntaxError`. */
export const parse = math.parse;

const DIGITS = 1000;
const Base = (math as unknown as { BigNumber: NumberClass }).BigNumber;

/**
 * As many digits as a number may have before it overflows, so that whole numbers are never
 * rounded; the bound on small numbers keeps a remainder from taking millions of steps.
 */
export const Exact = Base.clone({ precision: DIGITS, maxE: DIGITS - 1, minE: -DIGITS });

/** For functions whose results are never exact, where a thousand digits would cost seconds. */
export const Rough = Base.clone({ precision: 64, maxE: DIGITS - 1, minE: -DIGITS });

/** As people write numbers: up to 40 digits as they are, others to 20; whole ones in full. */
export function formatNumber(value: BigNumber): string {
  // A long whole number whose last digits are all zero is a power of ten, or was rounded.
  const isInFull = value.isInteger() && (value.e < 64 || value.precision() > 64);
  if (isInFull) return value.toFixed();
  const shown = value.precision() <= 40 ? value : value.toSignificantDigits(20);
  return Math.abs(shown.e) > 20 ? shown.toExponential() : shown.toFixed();
}
