import { type ImportContext, ImportError } from "./format.ts";
import { asFields, isFields } from "../../../shared/fields.ts";

/** Variables in variables, as deep as promptfoo looks for them. */
const MOST_ROUNDS = 5;
/** Characters that variables may put into a text: a few that contain each other grow without end. */
const MOST_CHARACTERS = 16_000_000;

export interface TemplateContext extends Pick<ImportContext, "leaveOut"> {
  values: Record<string, unknown>;
  line: number;
}

/** Puts variables into a text: `{{ name }}` and `{{ name.key }}`. Other expressions stay as they are. */
export function render(text: string, { values, line, leaveOut }: TemplateContext): string {
  if (/\{%/.test(text)) leaveOut("template statements ({% … %})", line);
  let characters = 0;
  // The blanks around it are not part of the pattern: its time would grow with their third power.
  return text.replaceAll(/\{\{([^{}]*)\}\}/g, (whole, inside: string) => {
    const expression = inside.trim();
    const value = /^[\w.]+$/.test(expression) ? readPath(values, expression) : undefined;
    if (value === undefined) {
      leaveOut(`the template expression ${whole.slice(0, 60)}`, line);
      return whole;
    }
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    characters += shown.length;
    if (characters > MOST_CHARACTERS) {
      throw new ImportError(
        line,
        `its variables make a text of over ${MOST_CHARACTERS} characters`,
      );
    }
    return shown;
  });
}

/** The same for every text inside a list or an object. Names of fields stay as they are. */
export function renderAll(value: unknown, context: TemplateContext): unknown {
  if (typeof value === "string") return render(value, context);
  if (Array.isArray(value)) return value.map((item) => renderAll(item, context));
  if (!isFields(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, renderAll(field, context)]);
  return Object.fromEntries(fields);
}

/**
 * Puts variables into the texts of one another. As in promptfoo, a line end at the end of a variable
 * is not part of it.
 */
function resolveVariables(
  variables: Record<string, unknown>,
  context: Omit<TemplateContext, "values">,
): Record<string, unknown> {
  let values = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replace(/\n$/, "") : value,
    ]),
  );
  const fill = (leaveOut: TemplateContext["leaveOut"]) =>
    asFields(renderAll(values, { ...context, values, leaveOut }));
  for (let round = 1; round < MOST_ROUNDS; round++) {
    const filled = fill(() => {});
    if (JSON.stringify(filled) === JSON.stringify(values)) break;
    values = filled;
  }
  return fill(context.leaveOut);
}

function readPath(values: Record<string, unknown>, path: string): unknown {
  let found: unknown = values;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

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
