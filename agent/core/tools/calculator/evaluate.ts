import type { Decimal } from "decimal.js";
import { cannot, CONSTANTS, Exact, FUNCTIONS, type Operation, OPERATORS } from "./functions.ts";

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
