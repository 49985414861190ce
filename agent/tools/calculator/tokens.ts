import { ToolError } from "../tool.ts";

/** `at` is the position, from 1, for error messages. The last token of an expression is `end`. */
export interface Token {
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

/** Splits an expression into numbers, names and symbols. Throws a `ToolError` at anything else. */
export function readTokens(expression: string): Token[] {
  const text = expression.trimEnd();
  const tokens: Token[] = [];
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let index = 0; index < text.length; index = TOKEN.lastIndex) {
    const at = index + 1;
    const groups = TOKEN.exec(text)?.groups;
    if (!groups) {
      const part = JSON.stringify(text.slice(index));
      throw new ToolError(`cannot calculate: Syntax error in part ${part} (char ${at})`);
    }
    const { number, name, symbol, unknown, foreign } = groups;
    if (unknown) throw new ToolError(`cannot calculate: unknown operator ${unknown}`);
    if (foreign && !(foreign === "\n" && (depth > 0 || isOpen(tokens.at(-1))))) {
      throw new ToolError("cannot calculate: only one arithmetic expression of numbers is allowed");
    }
    if (number) tokens.push({ kind: "number", text: number, at });
    if (name) tokens.push({ kind: "name", text: name, at });
    if (symbol) tokens.push({ kind: "symbol", text: symbol, at });
    if (symbol === "(") depth++;
    if (symbol === ")") depth--;
  }
  return [...tokens, { kind: "end", text: "", at: text.length + 1 }];
}

/** Whether the expression must continue on the next line. */
function isOpen(token?: Token): boolean {
  return !token || token.kind === "symbol" && "+-*/^".includes(token.text);
}
