import type { Decimal } from "decimal.js";
import { cannot, CONSTANTS, Exact, FUNCTIONS, type Operation, OPERATORS } from "./functions.ts";

// No library on npm has this grammar with exact numbers: those of mathjs have one precision for sums
// and for sines, others calculate in floating point.

/** Limit of the estimated time of an expression, in microseconds; the same on every machine. */
const MAX_WORK = 80_000;
const MAX_DEPTH = 60;

/**
 * Evaluates an expression and formats the result. Throws a `ToolError` if it is not arithmetic, too
 * large, or takes too long. The caller limits the length of the text.
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

const TOKEN = new RegExp(
  [
    /(?<blank>[^\S\n]+|#.*)/,
    /(?<number>0x[\da-f]+(?:\.[\da-f]*)?|0b[01]+|0o[0-7]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/,
    /(?<name>[\p{L}_$][\p{L}\d_$]*)/u,
    /(?<symbol>[-+*/%^!(),])/,
    /(?<unknown>[<>&|~?']|\.[*/^])/,
    /(?<foreign>[=:;[\]{}".\n])/,
  ].map(({ source }) => source).join("|"),
  "iuy",
);

function readTokens(expression: string): Token[] {
  const text = expression.trimEnd();
  const tokens: Token[] = [];
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let index = 0; index < text.length; index = TOKEN.lastIndex) {
    const at = index + 1;
    const groups = TOKEN.exec(text)?.groups;
    if (!groups) {
      throw cannot(`Syntax error in part ${JSON.stringify(text.slice(index))} (char ${at})`);
    }
    const { number, name, symbol, unknown, foreign } = groups;
    if (unknown) throw cannot(`unknown operator ${unknown}`);
    if (foreign && !(foreign === "\n" && (depth > 0 || isOpen(tokens.at(-1))))) {
      throw cannot("only one arithmetic expression of numbers is allowed");
    }
    if (number) tokens.push({ kind: "number", text: number, at });
    if (name) tokens.push({ kind: "name", text: name, at });
    if (symbol) tokens.push({ kind: "symbol", text: symbol, at });
    if (symbol === "(" && ++depth > MAX_DEPTH) {
      throw cannot(`brackets are nested more than ${MAX_DEPTH} deep`);
    }
    if (symbol === ")") depth--;
  }
  if (tokens.length === 0) throw cannot("the expression is empty");
  return [...tokens, { kind: "end", text: "", at: text.length + 1 }];
}

/** Whether the expression must continue on the next line. */
function isOpen(token?: Token): boolean {
  return !token || token.kind === "symbol" && "+-*/^".includes(token.text);
}

/** A value, and what it was written as. */
interface Operand {
  value: Decimal;
  /** `closed`: a name, a call, a factorial or what is in brackets. A number may follow as a factor. */
  kind: "number" | "closed" | "percentage" | "other";
}

/** Reads and calculates by recursive descent: one method per precedence, the lowest first. */
class Evaluation {
  #index = 0;
  #workLeft = MAX_WORK;
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
      const areBoth = left.kind === "percentage" && right.kind === "percentage";
      const isShare = right.kind === "percentage" && !areBoth;
      const value = this.#apply(isShare ? `${sign}%` : sign, left, right);
      left = { value, kind: areBoth ? "percentage" : "other" };
    }
    return left;
  }

  #product(): Operand {
    let left = this.#juxtaposition();
    for (;;) {
      const operator = this.#take("*", "/", "%", "mod");
      if (!operator) return left;
      const right = this.#juxtaposition();
      const value = this.#apply(operator === "mod" ? "%" : operator, left, right);
      left = { value, kind: "other" };
    }
  }

  /** 2 pi, 2(3 + 4) and (2)3 are products; 2 3 is more likely a mistake. */
  #juxtaposition(): Operand {
    let left = this.#fraction();
    for (let last = left; this.#isFactor(last);) {
      last = this.#fraction();
      left = { value: this.#apply("*", left, last), kind: "other" };
    }
    return left;
  }

  #isFactor(before: Operand): boolean {
    return this.#peek().kind === "number" ? before.kind === "closed" : this.#startsNamed();
  }

  /** A fraction of two numbers before a factor is one operand: 1/2 pi is half of pi. */
  #fraction(): Operand {
    let left = this.#percentage();
    for (let last = left; last.kind === "number" && this.#peek().text === "/";) {
      if (this.#peek(1).kind !== "number" || !this.#startsNamed(2)) break;
      this.#index++;
      last = this.#percentage();
      left = { value: this.#apply("/", left, last), kind: "other" };
    }
    return left;
  }

  /** Before a value, % is the remainder of a division; otherwise it makes a percentage. */
  #percentage(): Operand {
    const operand = this.#signed();
    if (this.#peek().text !== "%") return operand;
    const next = this.#peek(1);
    if (next.kind === "number" || next.kind === "name" || next.text === "(") return operand;
    this.#index++;
    return { value: this.#apply("percent", operand), kind: "percentage" };
  }

  #signed(): Operand {
    const sign = this.#take("+", "-");
    if (!sign) return this.#power();
    const { value, kind } = this.#signed();
    return {
      value: sign === "-" ? this.#apply("negate", { value }) : value,
      kind: kind === "number" ? "number" : "other",
    };
  }

  /** Right-associative, and stronger than a sign on its left: -2^2 is -4, 2^-1 is 0.5. */
  #power(): Operand {
    const left = this.#factorial();
    if (!this.#take("^")) return left;
    return { value: this.#apply("^", left, this.#signed()), kind: "other" };
  }

  #factorial(): Operand {
    let operand = this.#primary();
    while (this.#take("!")) operand = { value: this.#apply("!", operand), kind: "closed" };
    return operand;
  }

  #primary(): Operand {
    const { kind, text, at } = this.#peek();
    if (kind === "end") throw cannot(`Unexpected end of expression (char ${at})`);
    if (kind === "symbol" && text !== "(") throw cannot(`Value expected (char ${at})`);
    this.#index++;
    if (kind === "number") return { value: toNumber(text), kind: "number" };
    if (kind === "name" && this.#take("(")) {
      const value = this.#call(text, find(FUNCTIONS, "function", text), this.#values());
      return { value, kind: "closed" };
    }
    if (kind === "name") {
      return { value: new Exact(find(CONSTANTS, "name", text.toLowerCase())), kind: "closed" };
    }
    const { value } = this.#sum();
    this.#close();
    return { value, kind: "closed" };
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

  #apply(name: keyof typeof OPERATORS, ...operands: { value: Decimal }[]): Decimal {
    return this.#call(name, OPERATORS[name], operands.map(({ value }) => value));
  }

  #call(name: string, { arity: [least, most], work, run }: Operation, values: Decimal[]): Decimal {
    if (values.length < least || values.length > most) {
      const count = least === most ? `${least}` : `${least} to ${most}`;
      throw cannot(`${name} takes ${count} ${most === 1 ? "argument" : "arguments"}`);
    }
    this.#workLeft -= work(...values);
    if (this.#workLeft < 0) throw cannot("it takes too long");
    const value = finite(run(...values));
    if (value.isZero() && UNDERFLOWING.has(name) && !values.some((value) => value.isZero())) {
      throw tooSmall();
    }
    return value;
  }

  #startsNamed(ahead = 0): boolean {
    const { kind, text } = this.#peek(ahead);
    return text === "(" || kind === "name" && text !== "mod";
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

/** Converts the result first: a rough one may be outside the range of exact numbers. */
function finite(result: Decimal): Decimal {
  const value = new Exact(result);
  if (value.isNaN()) throw cannot("the result is not a real number");
  if (!value.isFinite()) throw cannot("a number has over 1000 digits");
  return value;
}

function toNumber(text: string): Decimal {
  const number = finite(new Exact(text));
  if (number.isZero() && /^[.0]*[1-9]/.test(text)) throw tooSmall();
  return number;
}

function tooSmall() {
  return cannot("a number is below 10^-1000");
}

function find<T>(known: ReadonlyMap<string, T>, kind: string, name: string): T {
  const found = known.get(name);
  if (found !== undefined) return found;
  const names = [...known.keys()].join(", ");
  throw cannot(`unknown ${kind} ${JSON.stringify(name)}; known are ${names}`);
}
