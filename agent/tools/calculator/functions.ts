import type { BigNumber } from "mathjs";
import { ToolError } from "../tool.ts";
import { Exact, Rough } from "./number.ts";

/** Takes its arguments in order; `[least, most]` of them. */
export interface Operation {
  arity: [number, number];
  run(...values: BigNumber[]): BigNumber;
}

const MAX_ANGLE = 1e15; // beyond, 64 digits of pi leave nothing of the result
const MAX_EXACT_EXPONENT = 1e6;

function unary(run: (x: BigNumber) => BigNumber): Operation {
  return { arity: [1, 1], run };
}

function binary(run: (x: BigNumber, y: BigNumber) => BigNumber): Operation {
  return { arity: [2, 2], run };
}

function many(run: (...values: BigNumber[]) => BigNumber): Operation {
  return { arity: [1, 100], run };
}

/** Calculates in 64 digits. */
function rough(run: (x: BigNumber) => BigNumber): Operation {
  return unary((x) => run(new Rough(x).toSignificantDigits(64)));
}

/** Roots of up to 64 digits come out right to the last one; longer whole numbers need them all. */
function root(run: (x: BigNumber) => BigNumber): Operation {
  return unary((x) => run(x.isInteger() && x.precision() > 64 ? x : new Rough(x)));
}

/** Sine, cosine, tangent: what is zero but for the last digits of pi is zero. */
function angle(run: (x: BigNumber) => BigNumber): Operation {
  return rough((x) => {
    if (x.abs().gt(MAX_ANGLE)) throw new ToolError(`cannot calculate: an angle over ${MAX_ANGLE}`);
    const value = run(x);
    if (value.abs().gt(1e30)) throw new ToolError("cannot calculate: the tangent is undefined");
    return value.abs().lt(1e-40) ? new Rough(0) : value;
  });
}

function power(x: BigNumber, y: BigNumber): BigNumber {
  if (x.isZero() && y.isNegative()) throw new ToolError("cannot calculate: a division by zero");
  if (x.abs().eq(1) && y.isInteger()) return y.mod(2).isZero() ? x.abs() : x;
  if (y.isInteger() && y.abs().lte(MAX_EXACT_EXPONENT)) return x.pow(y);
  return new Rough(x).toSignificantDigits(64).pow(y.toSignificantDigits(64));
}

function factorial(x: BigNumber): BigNumber {
  requireWhole(x);
  if (x.isNegative()) throw new ToolError("cannot calculate: the factorial of a negative number");
  let product = new Exact(1);
  for (let i = 2; x.gte(i) && product.isFinite(); i++) product = product.times(i);
  return product;
}

function gcd(x: BigNumber, y: BigNumber): BigNumber {
  let [a, b] = [toBigInt(x), toBigInt(y)];
  while (b !== 0n) [a, b] = [b, a % b];
  return new Exact(a.toString()).abs();
}

function lcm(x: BigNumber, y: BigNumber): BigNumber {
  return x.isZero() || y.isZero() ? new Exact(0) : x.times(y).abs().div(gcd(x, y));
}

function round(x: BigNumber, digits: BigNumber = new Exact(0)): BigNumber {
  requireWhole(digits);
  if (digits.isNegative() || digits.gt(100)) {
    throw new ToolError("cannot calculate: round takes 0 to 100 digits");
  }
  return x.toDecimalPlaces(digits.toNumber(), 4); // half away from zero, as at school
}

function log(x: BigNumber, base?: BigNumber): BigNumber {
  const value = new Rough(x).toSignificantDigits(64);
  return base ? value.log(base.toSignificantDigits(64)) : value.ln();
}

function requireWhole(x: BigNumber): void {
  if (!x.isInteger()) throw new ToolError(`cannot calculate: ${x.toString()} must be whole`);
}

function toBigInt(x: BigNumber): bigint {
  requireWhole(x);
  return BigInt(x.toFixed());
}

const sum = (...values: BigNumber[]) => values.reduce((total, value) => total.plus(value));

/** By the parser's name for them. */
export const OPERATORS: ReadonlyMap<string, Operation> = new Map([
  ["add", binary((x, y) => x.plus(y))],
  ["subtract", binary((x, y) => x.minus(y))],
  ["multiply", binary((x, y) => x.times(y))],
  ["divide", binary((x, y) => x.div(y))],
  ["mod", binary((x, y) => x.mod(y))],
  ["pow", binary(power)],
  ["unaryMinus", unary((x) => x.neg())],
  ["unaryPlus", unary((x) => x)],
  ["unaryPercentage", unary((x) => x.div(100))],
  ["factorial", unary(factorial)],
]);

export const FUNCTIONS: ReadonlyMap<string, Operation> = new Map([
  ["abs", unary((x) => x.abs())],
  ["sign", unary((x) => new Exact(x.isZero() ? 0 : x.isNegative() ? -1 : 1))],
  ["floor", unary((x) => x.floor())],
  ["ceil", unary((x) => x.ceil())],
  ["trunc", unary((x) => x.trunc())],
  ["round", { arity: [1, 2], run: round }],
  ["sqrt", root((x) => x.sqrt())],
  ["cbrt", root((x) => x.cbrt())],
  ["exp", rough((x) => x.exp())],
  ["ln", unary((x) => log(x))],
  ["log", { arity: [1, 2], run: log }],
  ["log10", unary((x) => log(x, new Rough(10)))],
  ["log2", unary((x) => log(x, new Rough(2)))],
  ["sin", angle((x) => x.sin())],
  ["cos", angle((x) => x.cos())],
  ["tan", angle((x) => x.tan())],
  ["asin", rough((x) => x.asin())],
  ["acos", rough((x) => x.acos())],
  ["atan", rough((x) => x.atan())],
  ["pow", binary(power)],
  ["mod", binary((x, y) => x.mod(y))],
  ["factorial", unary(factorial)],
  ["gcd", binary(gcd)],
  ["lcm", binary(lcm)],
  ["min", many((...values) => Exact.min(...values))],
  ["max", many((...values) => Exact.max(...values))],
  ["sum", many(sum)],
  ["mean", many((...values) => sum(...values).div(values.length))],
]);

export const CONSTANTS: ReadonlyMap<string, BigNumber> = new Map([
  ["pi", new Rough(-1).acos()],
  ["tau", new Rough(-1).acos().times(2)],
  ["e", new Rough(1).exp()],
  ["phi", new Rough(5).sqrt().plus(1).div(2)],
]);
