import { Decimal } from "decimal.js";
import { ToolError } from "../tool.ts";

/** Enough for 200!. No expression of 500 characters takes long with numbers of this length. */
const DIGITS = 400;

/**
 * The precision is the number of digits at which a number overflows, so that integers are never
 * rounded. The limit on small numbers keeps a remainder from taking millions of steps.
 */
export const Exact = Decimal.clone({
  defaults: true,
  precision: DIGITS,
  maxE: DIGITS - 1,
  minE: -DIGITS,
  modulo: Decimal.EUCLID, // a remainder is never negative
});

/**
 * For functions whose results are never exact: hundreds of digits would take seconds. Its range is
 * wider than that of `Exact`, because the arc tangent never ends if a square overflows.
 */
const Rough = Decimal.clone({ defaults: true, precision: 64, maxE: 10_000, minE: -10_000 });

/** An operator or a function. */
export interface Operation {
  /** The smallest and the largest number of arguments. */
  arity: [number, number];
  run(...values: Decimal[]): Decimal;
}

type Run = Operation["run"];

const operation = (least: number, most: number, run: Run): Operation => ({
  arity: [least, most],
  run,
});
const unary = (run: (x: Decimal) => Decimal) => operation(1, 1, run);
const binary = (run: (x: Decimal, y: Decimal) => Decimal) => operation(2, 2, run);
const many = (run: Run) => operation(1, 100, run);
const round64 = (x: Decimal) => new Rough(x).toSignificantDigits(64);
/** Calculates in 64 digits. */
const rough = (run: (x: Decimal) => Decimal) => unary((x) => run(round64(x)));

const MAX_ANGLE = 1e15; // 64 digits of pi are too few for larger angles

/** Sine, cosine, tangent. A result that differs from zero only by the rounding of pi is zero. */
function angle(run: (x: Decimal) => Decimal): Operation {
  return rough((x) => {
    if (x.abs().gt(MAX_ANGLE)) throw cannot(`an angle is over ${MAX_ANGLE}`);
    const value = run(x);
    if (value.abs().gt(1e30)) throw cannot("the tangent is undefined");
    return value.abs().lt(1e-40) ? new Rough(0) : value;
  });
}

/** Powers with a large or a fractional exponent are calculated with 64 digits. */
function power(x: Decimal, y: Decimal): Decimal {
  if (x.isZero() && y.isNegative()) throw cannot("division by zero");
  if (x.abs().eq(1) && y.isInteger()) return y.mod(2).isZero() ? x.abs() : x;
  const isExact = y.isInteger() && y.abs().lte(1e6);
  return isExact ? x.pow(y) : round64(x).pow(y.toSignificantDigits(64));
}

function divide(run: (x: Decimal, y: Decimal) => Decimal): Operation {
  return binary((x, y) => {
    if (y.isZero()) throw cannot("division by zero");
    return run(x, y);
  });
}

function factorial(x: Decimal): Decimal {
  requireInteger(x);
  if (x.isNegative()) throw cannot("the factorial of a negative number is undefined");
  let product = new Exact(1);
  for (let i = 2; x.gte(i) && product.isFinite(); i++) product = product.times(i);
  return product;
}

function gcd(x: Decimal, y: Decimal): Decimal {
  requireInteger(x);
  requireInteger(y);
  let [a, b] = [BigInt(x.toFixed()), BigInt(y.toFixed())];
  while (b !== 0n) [a, b] = [b, a % b];
  return new Exact(a.toString()).abs();
}

function lcm(x: Decimal, y: Decimal): Decimal {
  return x.isZero() || y.isZero() ? new Exact(0) : x.times(y).abs().div(gcd(x, y));
}

function round(x: Decimal, digits: Decimal = new Exact(0)): Decimal {
  requireInteger(digits);
  if (digits.isNegative() || digits.gt(100)) throw cannot("round takes 0 to 100 digits");
  return x.toDecimalPlaces(digits.toNumber(), 4); // half away from zero, as at school
}

function log(x: Decimal, base?: Decimal): Decimal {
  if (x.isZero()) throw cannot("the logarithm of 0 is undefined");
  return base ? round64(x).log(base.toSignificantDigits(64)) : round64(x).ln();
}

function requireInteger(x: Decimal): void {
  if (!x.isInteger()) throw cannot(`${x.toString()} must be an integer`);
}

/** The error that the model reads. */
export function cannot(reason: string): ToolError {
  return new ToolError(`cannot calculate: ${reason}`);
}

const sum = (...values: Decimal[]) => values.reduce((total, value) => total.plus(value));

export const OPERATORS = {
  "+": binary((x, y) => x.plus(y)),
  "-": binary((x, y) => x.minus(y)),
  "*": binary((x, y) => x.times(y)),
  "/": divide((x, y) => x.div(y)),
  "%": divide((x, y) => x.mod(y)),
  "^": binary(power),
  "!": unary(factorial),
};

export const FUNCTIONS: ReadonlyMap<string, Operation> = new Map([
  ["abs", unary((x) => x.abs())],
  ["sign", unary((x) => new Exact(x.isZero() ? 0 : x.isNegative() ? -1 : 1))],
  ["floor", unary((x) => x.floor())],
  ["ceil", unary((x) => x.ceil())],
  ["trunc", unary((x) => x.trunc())],
  ["round", operation(1, 2, round)],
  ["sqrt", unary((x) => x.sqrt())],
  ["cbrt", unary((x) => x.cbrt())],
  ["exp", rough((x) => x.exp())],
  ["ln", unary((x) => log(x))],
  ["log", operation(1, 2, log)],
  ["log10", unary((x) => log(x, new Rough(10)))],
  ["log2", unary((x) => log(x, new Rough(2)))],
  ["sin", angle((x) => x.sin())],
  ["cos", angle((x) => x.cos())],
  ["tan", angle((x) => x.tan())],
  ["asin", rough((x) => x.asin())],
  ["acos", rough((x) => x.acos())],
  ["atan", rough((x) => x.atan())],
  ["pow", OPERATORS["^"]],
  ["mod", OPERATORS["%"]],
  ["factorial", OPERATORS["!"]],
  ["gcd", binary(gcd)],
  ["lcm", binary(lcm)],
  ["min", many((...values) => Exact.min(...values))],
  ["max", many((...values) => Exact.max(...values))],
  ["sum", many(sum)],
  ["mean", many((...values) => sum(...values).div(values.length))],
]);

export const CONSTANTS: ReadonlyMap<string, Decimal> = new Map([
  ["pi", new Rough(-1).acos()],
  ["tau", new Rough(-1).acos().times(2)],
  ["e", new Rough(1).exp()],
  ["phi", new Rough(5).sqrt().plus(1).div(2)],
]);
