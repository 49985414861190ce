import type { ImportContext } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";

interface TemplateContext extends Pick<ImportContext, "leaveOut"> {
  values: Record<string, unknown>;
  line: number;
}

/** Puts variables into a text: `{{ name }}` and `{{ name.key }}`. Other expressions stay as they are. */
export function render(text: string, { values, line, leaveOut }: TemplateContext): string {
  if (/\{%/.test(text)) leaveOut("template statements ({% … %})", line);
  return text.replaceAll(/\{\{\s*([^{}]*?)\s*\}\}/g, (whole, expression: string) => {
    const value = /^[\w.]+$/.test(expression) ? readPath(values, expression) : undefined;
    if (value === undefined) {
      leaveOut(`the template expression ${whole.slice(0, 60)}`, line);
      return whole;
    }
    return typeof value === "string" ? value : JSON.stringify(value);
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

function readPath(values: Record<string, unknown>, path: string): unknown {
  let found: unknown = values;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
