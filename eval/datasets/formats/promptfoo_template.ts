import { type Fields, isFields } from "../../../shared/fields.ts";
import { type ImportContext, ImportError } from "./format.ts";

/** Variables in variables, as deep as promptfoo looks for them. */
const MOST_ROUNDS = 5;
/** Characters that variables may put into a text: a few that contain each other grow without end. */
const MOST_CHARACTERS = 16_000_000;
/** The blanks around a name are not part of the pattern: its time would grow with their third power. */
const EXPRESSION = /\{\{([^{}]*)\}\}/g;

interface TemplateContext extends Pick<ImportContext, "leaveOut"> {
  values: Fields;
  line: number;
}

/**
 * Puts variables into a text, also into one another: `{{ name }}` and `{{ name.key }}`. Other
 * expressions stay as they are, and are reported.
 */
export function render(text: string, { values, line, leaveOut }: TemplateContext): string {
  let characters = 0;
  let filled = text;
  for (let round = 0, before = ""; round < MOST_ROUNDS && filled !== before; round++) {
    before = filled;
    filled = before.replaceAll(EXPRESSION, (whole, inside: string) => {
      const value = readPath(values, inside.trim());
      if (value === undefined) return whole;
      // As in promptfoo, a line end at the end of a variable is not part of it.
      const shown = typeof value === "string" ? value.replace(/\n$/, "") : JSON.stringify(value);
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
  for (const [whole] of filled.matchAll(EXPRESSION)) {
    leaveOut(`the template expression ${whole.slice(0, 60)}`, line);
  }
  if (filled.includes("{%")) leaveOut("template statements ({% … %})", line);
  return filled;
}

/** The same for every text inside a list or an object. Names of fields stay as they are. */
export function renderAll(value: unknown, context: TemplateContext): unknown {
  if (typeof value === "string") return render(value, context);
  if (Array.isArray(value)) return value.map((item) => renderAll(item, context));
  if (!isFields(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, renderAll(field, context)]);
  return Object.fromEntries(fields);
}

function readPath(values: Fields, path: string): unknown {
  let found: unknown = values;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Fields)[key];
  }
  return found;
}
