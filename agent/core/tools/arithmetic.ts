import { Decimal } from "decimal.js";
import { ToolError } from "./tool.ts";

/** Enough for 200!. No expression of 500 characters takes long with numbers of this length. */
const DIGITS = 400;

/**
 * The precision is the number of digits at which a number overflows, so that integers are never
 * rounded. The limit on small numbers keeps a remainder from taking millions of steps.
 */
const Exact = Decimal.clone({
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
interface Operation {
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
function cannot(reason: string): ToolError {
  return new ToolError(`cannot calculate: ${reason}`);
}

const sum = (...values: Decimal[]) => values.reduce((total, value) => total.plus(value));

const OPERATORS = {
  "+": binary((x, y) => x.plus(y)),
  "-": binary((x, y) => x.minus(y)),
  "*": binary((x, y) => x.times(y)),
  "/": divide((x, y) => x.div(y)),
  "%": divide((x, y) => x.mod(y)),
  "^": binary(power),
  "!": unary(factorial),
};

const FUNCTIONS: ReadonlyMap<string, Operation> = new Map([
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

const CONSTANTS: ReadonlyMap<string, Decimal> = new Map([
  ["pi", new Rough(-1).acos()],
  ["tau", new Rough(-1).acos().times(2)],
  ["e", new Rough(1).exp()],
  ["phi", new Rough(5).sqrt().plus(1).div(2)],
]);

// No library on npm has this grammar with exact numbers: those of mathjs have one precision for sums
// and for sines, others calculate in floating point.

/**
 * Evaluates an expression and formats the result. Throws a `ToolError` if it is not arithmetic or
 * too large. The caller limits the length of the text.
 */
export function evaluate(expression: string): string {
  return formatNumber(new Evaluation(readTokens(normalize(expression))).run());
}

/** Replaces what people write with the symbols of the grammar. */
function normalize(expression: string): string {
  return expression
    .replace(/[×·⋅]/g, "*").replace(/÷/g, "/").replace(/[−–]/g, "-").replaceAll("**", "^")
    .replaceAll("π", "pi").replace(/\bpercent\b/gi, "%").replace(/%\s*of\b/gi, "% *");
}

/** Numbers of up to 40 digits and integers in full, others rounded to 20 digits. */
function formatNumber(value: Decimal): string {
  // A long integer whose last digits are all zero is a power of ten, or was rounded.
  const isInFull = value.isInteger() && (value.e < 64 || value.precision() > 64);
  if (isInFull) return value.toFixed();
  const shown = value.precision() <= 40 ? value : value.toSignificantDigits(20);
  return Math.abs(shown.e) > 20 ? shown.toExponential() : shown.toFixed();
}

/** `at` is the position, from 1, for error messages. The last token of an expression is `end`. */
interface Token {
  kind: "number" | "name" | "symbol" | "end";
  text: string;
  at: number;
}

const TOKEN =
  /\s*(?:(?<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|(?<name>[\p{L}_][\p{L}\d_]*)|(?<symbol>[-+*/%^!(),]))/iuy;

function readTokens(expression: string): Token[] {
  const text = expression.trimEnd();
  const tokens: Token[] = [];
  for (let index = 0; index < text.length; index = TOKEN.lastIndex) {
    TOKEN.lastIndex = index;
    const groups = TOKEN.exec(text)?.groups;
    if (!groups) {
      const rest = text.slice(index).trimStart();
      throw cannot(
        `Syntax error in part ${JSON.stringify(rest)} (char ${text.length - rest.length + 1})`,
      );
    }
    const [kind, found] = Object.entries(groups).find(([, part]) => part !== undefined)!;
    const at = TOKEN.lastIndex - found.length + 1;
    tokens.push({ kind: kind as Token["kind"], text: found, at });
  }
  if (tokens.length === 0) throw cannot("the expression is empty");
  return [...tokens, { kind: "end", text: "", at: text.length + 1 }];
}

interface Operand {
  value: Decimal;
  isPercentage?: boolean;
}

/** Reads and calculates by recursive descent: one method per precedence, the lowest first. */
class Evaluation {
  #index = 0;
  readonly #tokens: Token[];

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  run(): Decimal {
    const { value } = this.#sum();
    const { kind, text, at } = this.#peek();
    if (kind === "end") return value;
    const what = kind === "symbol" ? `operator ${text}` : `part ${JSON.stringify(text)}`;
    throw cannot(`Unexpected ${what} (char ${at})`);
  }

  /** 10% + 5% is a percentage; 100 + 5% is 105. */
  #sum(): Operand {
    let left = this.#product();
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-")) {
      const right = this.#product();
      const isShare = right.isPercentage && !left.isPercentage;
      const term = isShare ? apply("*", OPERATORS["*"], [left.value, right.value]) : right.value;
      left = {
        value: apply(sign, OPERATORS[sign], [left.value, term]),
        isPercentage: right.isPercentage === true && !isShare,
      };
    }
    return left;
  }

  #product(): Operand {
    let left = this.#percentage();
    for (;;) {
      const operator = this.#take("*", "/", "%", "mod");
      if (!operator) return left;
      const { value } = this.#percentage();
      left = {
        value: apply(operator, OPERATORS[operator === "mod" ? "%" : operator], [left.value, value]),
      };
    }
  }

  /** Before a value, % is the remainder of a division; otherwise it makes a percentage. */
  #percentage(): Operand {
    const value = this.#signed();
    const next = this.#peek(1);
    const isRemainder = next.text === "(" || next.kind === "number" ||
      next.kind === "name" && next.text !== "mod";
    if (this.#peek().text !== "%" || isRemainder) return { value };
    this.#index++;
    return { value: value.div(100), isPercentage: true };
  }

  #signed(): Decimal {
    const sign = this.#take("+", "-");
    if (!sign) return this.#power();
    const value = this.#signed();
    return sign === "-" ? value.neg() : value;
  }

  /** Right-associative, and stronger than a sign on its left: -2^2 is -4, 2^-1 is 0.5. */
  #power(): Decimal {
    const left = this.#factorial();
    return this.#take("^") ? apply("^", OPERATORS["^"], [left, this.#signed()]) : left;
  }

  #factorial(): Decimal {
    let value = this.#primary();
    while (this.#take("!")) value = apply("!", OPERATORS["!"], [value]);
    return value;
  }

  #primary(): Decimal {
    const { kind, text, at } = this.#peek();
    if (kind === "end") throw cannot(`Unexpected end of expression (char ${at})`);
    if (kind === "symbol" && text !== "(") throw cannot(`Value expected (char ${at})`);
    this.#index++;
    if (kind === "number") return toNumber(text);
    if (kind === "name") {
      return this.#take("(")
        ? apply(text, find(FUNCTIONS, "function", text), this.#values())
        : new Exact(find(CONSTANTS, "name", text.toLowerCase()));
    }
    const { value } = this.#sum();
    this.#close();
    return value;
  }

  #values(): Decimal[] {
    if (this.#take(")")) return [];
    const values = [this.#sum().value];
    while (this.#take(",")) values.push(this.#sum().value);
    this.#close();
    return values;
  }

  #close(): void {
    if (!this.#take(")")) throw cannot(`Parenthesis ) expected (char ${this.#peek().at})`);
  }

  #peek(ahead = 0): Token {
    return this.#tokens[this.#index + ahead] ?? this.#tokens.at(-1)!;
  }

  #take<Text extends string>(...texts: Text[]): Text | undefined {
    const taken = texts.find((text) => text === this.#peek().text);
    if (taken) this.#index++;
    return taken;
  }
}

/** If the operands are not zero, a result of zero means that it is too small to represent. */
const UNDERFLOWING = new Set(["*", "/", "^", "pow", "exp"]);

function apply(name: string, { arity: [least, most], run }: Operation, values: Decimal[]): Decimal {
  if (values.length < least || values.length > most) {
    const count = least === most ? `${least}` : `${least} to ${most}`;
    throw cannot(`${name} takes ${count} ${most === 1 ? "argument" : "arguments"}`);
  }
  const value = finite(run(...values));
  if (value.isZero() && UNDERFLOWING.has(name) && !values.some((value) => value.isZero())) {
    throw tooSmall();
  }
  return value;
}

/** Converts the result first: a rough one may be outside the range of exact numbers. */
function finite(result: Decimal): Decimal {
  const value = new Exact(result);
  if (value.isNaN()) throw cannot("the result is not a real number");
  if (!value.isFinite()) throw cannot(`a number has over ${Exact.precision} digits`);
  return value;
}

function toNumber(text: string): Decimal {
  const number = finite(new Exact(text));
  if (number.isZero() && /^[.0]*[1-9]/.test(text)) throw tooSmall();
  return number;
}

function tooSmall() {
  return cannot(`a number is below 10^-${Exact.precision}`);
}

function find<T>(known: ReadonlyMap<string, T>, kind: string, name: string): T {
  const found = known.get(name);
  if (found !== undefined) return found;
  const names = [...known.keys()].join(", ");
  throw cannot(`unknown ${kind} ${JSON.stringify(name)}; known are ${names}`);
}
