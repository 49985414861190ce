import type {
  BigNumber,
  ConstantNode,
  FunctionNode,
  MathNode,
  OperatorNode,
  ParenthesisNode,
  SymbolNode,
} from "mathjs";
import { ToolError } from "../tool.ts";
import { CONSTANTS, FUNCTIONS, type Operation, OPERATORS } from "./functions.ts";
import { Exact, formatNumber, parse } from "./number.ts";

const MAX_DEPTH = 60;
const MAX_MS = 200;

/** Whose result is zero only where it is too small to be told from zero. */
const UNDERFLOWING = new Set(["*", "/", "^", "pow", "exp"]);

/**
 * Works out an expression and writes the result plainly. Throws a `ToolError` for all that is not
 * arithmetic, that is too large, or that takes too long. The caller bounds the text's length.
 */
export function evaluate(expression: string): string {
  const tree = parseExpression(expression);
  const deadline = performance.now() + MAX_MS;
  return formatNumber(evaluateNode(tree, deadline));
}

function parseExpression(expression: string): MathNode {
  const text = expression
    .replace(/[×·⋅]/g, "*").replace(/÷/g, "/").replace(/[−–]/g, "-").replaceAll("**", "^")
    .replaceAll("π", "pi").replace(/\bpercent\b/gi, "%").replace(/%\s*of\b/gi, "% *");
  requireShallow(text);
  try {
    return parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it cannot be read";
    throw new ToolError(`cannot calculate: ${reason}`);
  }
}

/** The parser calls itself for each bracket, so the depth is bounded before it starts. */
function requireShallow(text: string): void {
  let depth = 0;
  for (const character of text) {
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
    if (depth > MAX_DEPTH) {
      throw new ToolError(`cannot calculate: brackets are nested over ${MAX_DEPTH} deep`);
    }
  }
}

/** `deadline` is a time of `performance.now()`. */
function evaluateNode(node: MathNode, deadline: number): BigNumber {
  if (performance.now() > deadline) throw new ToolError("cannot calculate: it takes too long");
  switch (node.type) {
    case "ConstantNode":
      return finite(toNumber((node as ConstantNode).value));
    case "SymbolNode":
      return toConstant((node as SymbolNode).name);
    case "ParenthesisNode":
      return evaluateNode((node as ParenthesisNode).content, deadline);
    case "OperatorNode": {
      const { fn, op, args } = node as OperatorNode;
      const operation = OPERATORS.get(fn);
      if (!operation) throw new ToolError(`cannot calculate: the operator ${op} is not known`);
      return apply(operation, { name: op, values: args.map((arg) => evaluateNode(arg, deadline)) });
    }
    case "FunctionNode": {
      const { fn, args } = node as FunctionNode;
      const name = fn.type === "SymbolNode" ? fn.name : "";
      const operation = FUNCTIONS.get(name);
      if (!operation) throw unknown("function", { name, known: FUNCTIONS });
      return apply(operation, { name, values: args.map((arg) => evaluateNode(arg, deadline)) });
    }
    default:
      throw new ToolError("cannot calculate: only one arithmetic expression of numbers is allowed");
  }
}

function apply(
  { arity: [least, most], run }: Operation,
  { name, values }: { name: string; values: BigNumber[] },
): BigNumber {
  if (values.length < least || values.length > most) {
    const count = least === most ? `${least}` : `${least} to ${most}`;
    throw new ToolError(`cannot calculate: ${name} takes ${count} arguments`);
  }
  if ((name === "/" || name === "%" || name === "mod") && values[1]?.isZero()) {
    throw new ToolError("cannot calculate: a division by zero");
  }
  const value = finite(run(...values));
  if (value.isZero() && UNDERFLOWING.has(name) && !values.some((value) => value.isZero())) {
    throw tooSmall();
  }
  return value;
}

function finite(value: BigNumber): BigNumber {
  if (value.isNaN()) throw new ToolError("cannot calculate: the result is not a real number");
  if (!value.isFinite()) throw new ToolError("cannot calculate: a number of over 1000 digits");
  return new Exact(value);
}

/** The parser makes the 100 of a percentage itself, as a plain number. */
function toNumber(value: unknown): BigNumber {
  if (value === undefined) throw new ToolError("cannot calculate: there is no expression");
  if (typeof value === "number") return new Exact(value);
  const isNumber = typeof value === "object" && value !== null && "isFinite" in value;
  if (!isNumber) throw new ToolError(`cannot calculate: ${JSON.stringify(value)} is not a number`);
  const given = value as BigNumber;
  const number = new Exact(given);
  if (number.isZero() && !given.isZero()) throw tooSmall();
  return number;
}

function toConstant(name: string): BigNumber {
  const value = CONSTANTS.get(name.toLowerCase());
  if (!value) throw unknown("name", { name, known: CONSTANTS });
  return new Exact(value);
}

function unknown(
  kind: string,
  { name, known }: { name: string; known: ReadonlyMap<string, unknown> },
): ToolError {
  const names = [...known.keys()].join(", ");
  return new ToolError(`cannot calculate: no ${kind} ${JSON.stringify(name)}; there are ${names}`);
}

function tooSmall(): ToolError {
  return new ToolError("cannot calculate: a number below 10^-1000");
}
