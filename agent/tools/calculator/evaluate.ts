import type { Decimal } from "decimal.js";
import { ToolError } from "../tool.ts";
import { BINARY, CONSTANTS, FUNCTIONS, type Operation, UNARY } from "./functions.ts";
import { Exact, formatNumber } from "./number.ts";
import { type Expression, parse } from "./parse.ts";
import { Budget } from "./work.ts";

/** If the operands are not zero, a result of zero means that it is too small to represent. */
const UNDERFLOWING = new Set(["*", "/", "^", "pow", "exp"]);

/**
 * Evaluates an expression and formats the result. Throws a `ToolError` if it is not arithmetic, too
 * large, or takes too long. The caller limits the length of the text.
 */
export function evaluate(expression: string): string {
  return formatNumber(evaluateNode(parse(normalize(expression)), new Budget()));
}

/** Replaces what people write with the parser's symbols. */
function normalize(expression: string): string {
  return expression
    .replace(/[×·⋅]/g, "*").replace(/÷/g, "/").replace(/[−–]/g, "-").replaceAll("**", "^")
    .replaceAll("π", "pi").replace(/\bpercent\b/gi, "%").replace(/%\s*of\b/gi, "% *");
}

function evaluateNode(node: Expression, budget: Budget): Decimal {
  const evaluateAll = (nodes: Expression[]) => nodes.map((each) => evaluateNode(each, budget));
  switch (node.type) {
    case "number":
      return toNumber(node.text);
    case "name":
      return toConstant(node.name);
    case "group":
      return evaluateNode(node.content, budget);
    case "unary": {
      const { operator: name, value } = node;
      return apply(UNARY[name], { name, values: evaluateAll([value]), budget });
    }
    case "binary": {
      const { operator: name, left, right } = node;
      return apply(BINARY[name], { name, values: evaluateAll([left, right]), budget });
    }
    case "call": {
      const { name } = node;
      const operation = FUNCTIONS.get(name);
      if (!operation) throw unknown("function", { name, known: FUNCTIONS });
      return apply(operation, { name, values: evaluateAll(node.values), budget });
    }
  }
}

function apply(
  { arity: [least, most], cost, run }: Operation,
  { name, values, budget }: { name: string; values: Decimal[]; budget: Budget },
): Decimal {
  if (values.length < least || values.length > most) {
    const count = least === most ? `${least}` : `${least} to ${most}`;
    throw new ToolError(
      `cannot calculate: ${name} takes ${count} ${most === 1 ? "argument" : "arguments"}`,
    );
  }
  if ((name === "/" || name === "%" || name === "mod") && values[1]?.isZero()) {
    throw new ToolError("cannot calculate: division by zero");
  }
  budget.spend(cost(...values));
  const value = finite(run(...values));
  if (value.isZero() && UNDERFLOWING.has(name) && !values.some((value) => value.isZero())) {
    throw tooSmall();
  }
  return value;
}

/** Converts the result first: a rough one may be outside the range of exact numbers. */
function finite(result: Decimal): Decimal {
  const value = new Exact(result);
  if (value.isNaN()) throw new ToolError("cannot calculate: the result is not a real number");
  if (!value.isFinite()) throw new ToolError("cannot calculate: a number has over 1000 digits");
  return value;
}

function toNumber(text: string): Decimal {
  const number = finite(new Exact(text));
  if (number.isZero() && /^[.0]*[1-9]/.test(text)) throw tooSmall();
  return number;
}

function toConstant(name: string): Decimal {
  const value = CONSTANTS.get(name.toLowerCase());
  if (!value) throw unknown("name", { name, known: CONSTANTS });
  return new Exact(value);
}

function unknown(
  kind: string,
  { name, known }: { name: string; known: ReadonlyMap<string, unknown> },
): ToolError {
  const names = [...known.keys()].join(", ");
  return new ToolError(
    `cannot calculate: unknown ${kind} ${JSON.stringify(name)}; known are ${names}`,
  );
}

function tooSmall(): ToolError {
  return new ToolError("cannot calculate: a number is below 10^-1000");
}
