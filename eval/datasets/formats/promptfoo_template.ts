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
export function resolveVariables(
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
