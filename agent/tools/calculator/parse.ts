import { ToolError } from "../tool.ts";
import { readTokens, type Token } from "./tokens.ts";

/** `+%` and `-%` add or subtract a percentage of their left operand: 100 + 5% is 105. */
export type BinaryOperator = "+" | "-" | "+%" | "-%" | "*" | "/" | "%" | "^";
export type UnaryOperator = "+" | "-" | "!" | "%";

/** A syntax tree. A number is kept as text, so that no digit is lost. */
export type Expression =
  | { type: "number"; text: string }
  | { type: "name"; name: string }
  | { type: "group"; content: Expression }
  | { type: "call"; name: string; values: Expression[] }
  | { type: "unary"; operator: UnaryOperator; value: Expression }
  | { type: "binary"; operator: BinaryOperator; left: Expression; right: Expression };

const MAX_DEPTH = 60;

/** Parses an expression. Throws a `ToolError` that says what is wrong. */
export function parse(expression: string): Expression {
  const tokens = readTokens(expression);
  requireShallow(tokens);
  if (tokens.length === 1) throw new ToolError("cannot calculate: the expression is empty");
  return new Parser(tokens).parse();
}

/** The parser calls itself for each bracket, so the depth is limited before it starts. */
function requireShallow(tokens: Token[]): void {
  let depth = 0;
  for (const { text } of tokens) {
    if (text === "(") depth++;
    else if (text === ")") depth--;
    if (depth > MAX_DEPTH) {
      throw new ToolError(`cannot calculate: brackets are nested more than ${MAX_DEPTH} deep`);
    }
  }
}

/** A recursive descent parser: one method per precedence, the lowest first. Never backtracks. */
class Parser {
  #index = 0;
  readonly #tokens: Token[];

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expression {
    const whole = this.#sum();
    const { kind, text, at } = this.#peek();
    if (kind === "end") return whole;
    const what = kind === "symbol" ? `operator ${text}` : `part ${JSON.stringify(text)}`;
    throw new ToolError(`cannot calculate: Unexpected ${what} (char ${at})`);
  }

  #sum(): Expression {
    let left = this.#product();
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-")) {
      const right = this.#product();
      const isShare = isPercentage(right) && !isPercentage(left);
      left = { type: "binary", operator: isShare ? `${sign}%` : sign, left, right };
    }
    return left;
  }

  #product(): Expression {
    let left = this.#juxtaposition();
    for (;;) {
      const operator = this.#take("*", "/", "%", "mod");
      if (!operator) return left;
      const right = this.#juxtaposition();
      left = { type: "binary", operator: operator === "mod" ? "%" : operator, left, right };
    }
  }

  /** 2 pi, 2(3 + 4) and (2)3 are products; 2 3 is more likely a mistake. */
  #juxtaposition(): Expression {
    let left = this.#fraction();
    for (let last = left; this.#isFactor(last);) {
      last = this.#fraction();
      left = { type: "binary", operator: "*", left, right: last };
    }
    return left;
  }

  #isFactor(before: Expression): boolean {
    if (this.#peek().kind !== "number") return this.#startsNamed();
    const { type } = before;
    return type === "name" || type === "group" || type === "call" ||
      type === "unary" && before.operator === "!";
  }

  /** A fraction of two numbers before a factor is one operand: 1/2 pi is half of pi. */
  #fraction(): Expression {
    let left = this.#percentage();
    for (let last = left; isPlain(last) && this.#peek().text === "/";) {
      if (this.#peek(1).kind !== "number" || !this.#startsNamed(2)) break;
      this.#index++;
      last = this.#percentage();
      left = { type: "binary", operator: "/", left, right: last };
    }
    return left;
  }

  /** Before a value, % is the remainder of a division; otherwise it makes a percentage. */
  #percentage(): Expression {
    const value = this.#signed();
    if (this.#peek().text !== "%") return value;
    const next = this.#peek(1);
    if (next.kind === "number" || next.kind === "name" || next.text === "(") return value;
    this.#index++;
    return { type: "unary", operator: "%", value };
  }

  #signed(): Expression {
    const operator = this.#take("+", "-");
    return operator ? { type: "unary", operator, value: this.#signed() } : this.#power();
  }

  /** Right-associative, and stronger than a sign on its left: -2^2 is -4, 2^-1 is 0.5. */
  #power(): Expression {
    const left = this.#factorial();
    if (!this.#take("^")) return left;
    return { type: "binary", operator: "^", left, right: this.#signed() };
  }

  #factorial(): Expression {
    let value = this.#primary();
    while (this.#take("!")) value = { type: "unary", operator: "!", value };
    return value;
  }

  #primary(): Expression {
    const { kind, text, at } = this.#peek();
    if (kind === "end") {
      throw new ToolError(`cannot calculate: Unexpected end of expression (char ${at})`);
    }
    if (kind === "symbol" && text !== "(") {
      throw new ToolError(`cannot calculate: Value expected (char ${at})`);
    }
    this.#index++;
    if (kind === "number") return { type: "number", text };
    if (kind === "name") {
      return this.#take("(")
        ? { type: "call", name: text, values: this.#values() }
        : { type: "name", name: text };
    }
    const content = this.#sum();
    this.#close();
    return { type: "group", content };
  }

  #values(): Expression[] {
    if (this.#take(")")) return [];
    const values = [this.#sum()];
    while (this.#take(",")) values.push(this.#sum());
    this.#close();
    return values;
  }

  #close(): void {
    if (this.#take(")")) return;
    throw new ToolError(`cannot calculate: Parenthesis ) expected (char ${this.#peek().at})`);
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

/** 10%, and also 10% + 5%: `+%` applies only if its left operand is not a percentage. */
function isPercentage(node: Expression): boolean {
  if (node.type === "unary") return node.operator === "%";
  return node.type === "binary" && "+-".includes(node.operator) &&
    isPercentage(node.left) && isPercentage(node.right);
}

function isPlain(node: Expression): boolean {
  if (node.type === "unary" && node.operator !== "!" && node.operator !== "%") node = node.value;
  return node.type === "number";
}
