import { ImportError } from "./format.ts";
import { resolveVariables, type TemplateContext } from "./promptfoo_template.ts";

/** Tests that the lists in their variables multiply to. */
const MOST_COMBINATIONS = 1000;

type Values = Record<string, unknown>;

/** The values that each variable takes in turn: a list's, or one. */
export type Choices = [name: string, values: unknown[]][];

/** What the variables of a test may be. */
export function listChoices(variables: Values): Choices {
  return Object.entries(variables)
    .map(([name, value]) => [name, Array.isArray(value) ? value : [value]]);
}

/**
 * promptfoo tests every combination of the values of variables that are lists. Throws `ImportError`
 * if they are too many.
 */
export function countCombinations(choices: Choices, line: number): number {
  let count = 1;
  for (const [, values] of choices) {
    count *= values.length;
    if (count > MOST_COMBINATIONS) {
      throw new ImportError(line, `the lists in vars make more than ${MOST_COMBINATIONS} tests`);
    }
  }
  return count;
}

/** One of them, by its number; the last list changes first. */
export function combine(choices: Choices, nth: number): Values {
  let rest = nth;
  const chosen = choices.toReversed().map(([name, values]): [string, unknown] => {
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    return [name, value];
  });
  return Object.fromEntries(chosen.reverse());
}

/** Variables may contain one another. Those in other files are left out. */
export function fillIn(all: Values, context: Pick<TemplateContext, "line" | "leaveOut">): Values {
  const values = Object.fromEntries(
    Object.entries(all).filter(([name, value]) => {
      const isInFile = typeof value === "string" && value.startsWith("file://");
      if (isInFile) context.leaveOut(`the variable ${name} in another file`, context.line);
      return !isInFile;
    }),
  );
  return resolveVariables(values, context);
}
