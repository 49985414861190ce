import type { Decimal } from "decimal.js";
import { ToolError } from "../tool.ts";
import { Exact, Rough } from "./number.ts";
import type { BinaryOperator, UnaryOperator } from "./parse.ts";
import { COSTS, MAX_EXACT_EXPONENT, type OperationCost } from "./work.ts";

/** An operator or a function. `arity` is the smallest and the largest number of arguments. */
export interface Operation {
  arity: [number, number];
  cost: OperationCost;
  run(...values: Decimal[]): Decimal;
}

const MAX_ANGLE = 1e15; // 64 digits of pi are too few for larger angles

function unary(run: (x: Decimal) => Decimal, cost: OperationCost = COSTS.plain): Operation {
  return { arity: [1, 1], cost, run };
}

function binary(
  run: (x: Decimal, y: Decimal) => Decimal,
  cost: OperationCost = COSTS.plain,
): Operation {
  return { arity: [2, 2], cost, run };
}

function many(run: (...values: Decimal[]) => Decimal): Operation {
  return { arity: [1, 100], cost: (...values) => values.length * COSTS.plain(), run };
}

/** Calculates in 64 digits. */
function rough(run: (x: Decimal) => Decimal, cost: OperationCost = COSTS.function): Operation {
  return unary((x) => run(new Rough(x).toSignificantDigits(64)), cost);
}

/** Roots of up to 64 digits are correct to the last one; longer integers need all their digits. */
function root(run: (x: Decimal) => Decimal): Operation {
  return unary((x) => {
    if (x.isInteger() && x.precision() > 64) return run(x);
    return run(new Rough(x).toSignificantDigits(64));
  }, COSTS.root);
}

/** Sine, cosine, tangent. A result that differs from zero only by the rounding of pi is zero. */
function angle(run: (x: Decimal) => Decimal): Operation {
  return rough((x) => {
    if (x.abs().gt(MAX_ANGLE)) {
      throw new ToolError(`cannot calculate: an angle is over ${MAX_ANGLE}`);
    }
    const value = run(x);
    if (value.abs().gt(1e30)) throw new ToolError("cannot calculate: the tangent is undefined");
    return value.abs().lt(1e-40) ? new Rough(0) : value;
  });
}

function power(x: Decimal, y: Decimal): Decimal {
  if (x.isZero() && y.isNegative()) throw new ToolError("cannot calculate: division by zero");
  if (x.abs().eq(1) && y.isInteger()) return y.mod(2).isZero() ? x.abs() : x;
  if (y.isInteger() && y.abs().lte(MAX_EXACT_EXPONENT)) return x.pow(y);
  return new Rough(x).toSignificantDigits(64).pow(y.toSignificantDigits(64));
}

function factorial(x: Decimal): Decimal {
  requireInteger(x);
  if (x.isNegative()) {
    throw new ToolError("cannot calculate: the factorial of a negative number is undefined");
  }
  let product = new Exact(1);
  for (let i = 2; x.gte(i) && product.isFinite(); i++) product = product.times(i);
  return product;
}

function gcd(x: Decimal, y: Decimal): Decimal {
  let [a, b] = [toBigInt(x), toBigInt(y)];
  while (b !== 0n) [a, b] = [b, a % b];
  return new Exact(a.toString()).abs();
}

function lcm(x: Decimal, y: Decimal): Decimal {
  return x.isZero() || y.isZero() ? new Exact(0) : x.times(y).abs().div(gcd(x, y));
}

function round(x: Decimal, digits: Decimal = new Exact(0)): Decimal {
  requireInteger(digits);
  if (digits.isNegative() || digits.gt(100)) {
    throw new ToolError("cannot calculate: round takes 0 to 100 digits");
  }
  return x.toDecimalPlaces(digits.toNumber(), 4); // half away from zero, as at school
}

function log(x: Decimal, base?: Decimal): Decimal {
  if (x.isZero()) throw new ToolError("cannot calculate: the logarithm of 0 is undefined");
  const value = new Rough(x).toSignificantDigits(64);
  return base ? value.log(base.toSignificantDigits(64)) : value.ln();
}

function requireInteger(x: Decimal): void {
  if (!x.isInteger()) throw new ToolError(`cannot calculate: ${x.toString()} must be an integer`);
}

function toBigInt(x: Decimal): bigint {
  requireInteger(x);
  return BigInt(x.toFixed());
}

const sum = (...values: Decimal[]) => values.reduce((total, value) => total.plus(value));

export const BINARY: Record<BinaryOperator, Operation> = {
  "+": binary((x, y) => x.plus(y)),
  "-": binary((x, y) => x.minus(y)),
  "+%": binary((x, share) => x.plus(x.times(share)), COSTS.times),
  "-%": binary((x, share) => x.minus(x.times(share)), COSTS.times),
  "*": binary((x, y) => x.times(y), COSTS.times),
  "/": binary((x, y) => x.div(y), COSTS.div),
  "%": binary((x, y) => x.mod(y), COSTS.mod),
  "^": binary(power, COSTS.power),
};

export const UNARY: Record<UnaryOperator, Operation> = {
  "+": unary((x) => x),
  "-": unary((x) => x.neg()),
  "!": unary(factorial, COSTS.factorial),
  "%": unary((x) => x.div(100)),
};

export const FUNCTIONS: ReadonlyMap<string, Operation> = new Map([
  ["abs", unary((x) => x.abs())],
  ["sign", unary((x) => new Exact(x.isZero() ? 0 : x.isNegative() ? -1 : 1))],
  ["floor", unary((x) => x.floor())],
  ["ceil", unary((x) => x.ceil())],
  ["trunc", unary((x) => x.trunc())],
  ["round", { arity: [1, 2], cost: COSTS.plain, run: round }],
  ["sqrt", root((x) => x.sqrt())],
  ["cbrt", root((x) => x.cbrt())],
  ["exp", rough((x) => x.exp())],
  ["ln", unary((x) => log(x), COSTS.function)],
  ["log", { arity: [1, 2], cost: COSTS.logarithm, run: log }],
  ["log10", unary((x) => log(x, new Rough(10)), COSTS.logarithm)],
  ["log2", unary((x) => log(x, new Rough(2)), COSTS.logarithm)],
  ["sin", angle((x) => x.sin())],
  ["cos", angle((x) => x.cos())],
  ["tan", angle((x) => x.tan())],
  ["asin", rough((x) => x.asin(), COSTS.arc)],
  ["acos", rough((x) => x.acos(), COSTS.arc)],
  ["atan", rough((x) => x.atan(), COSTS.arc)],
  ["pow", BINARY["^"]],
  ["mod", BINARY["%"]],
  ["factorial", UNARY["!"]],
  ["gcd", binary(gcd, COSTS.gcd)],
  ["lcm", binary(lcm, COSTS.gcd)],
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
