import { z } from "zod";
import { lazy } from "../../../shared/service/waiting.ts";
import { type Tool, ToolError } from "./tool.ts";

const MAX_LENGTH = 500;

const evaluate = lazy(async () => (await import("./arithmetic.ts")).evaluate);

const schema = z.object({
  expression: z.string().describe("The expression, for example (12.5 + 3) * 4^2 or 17% of 240"),
});

/**
 * Calculates with decimal numbers: exact for integers below 10^400, and 0.1 + 0.2 is 0.3. The
 * expression is parsed and evaluated, never run as code.
 */
export function createCalculator(): Tool<typeof schema, string> {
  return {
    name: "calculator",
    description: "Works out one arithmetic expression, exactly. Knows + - * / % ^ ! and " +
      "parentheses, percentages (17% of 240), pi, e, and functions such as sqrt, cbrt, abs, " +
      "round(x, digits), floor, ceil, exp, ln, log(x, base), log10, log2, sin, cos, tan " +
      "(radians), min, max, sum, mean, gcd, lcm. No variables, no units.",
    schema,
    async run({ expression }) {
      if (expression.length > MAX_LENGTH) {
        throw new ToolError(`cannot calculate: the expression is over ${MAX_LENGTH} characters`);
      }
      return await evaluate(expression);
    },
  };
}
