import { type Fields, parseFields } from "../../shared/service/fields.ts";

/** A JSON object found in a text; `end` is the index after its closing brace. */
export interface FoundObject {
  value: Fields;
  start: number;
  end: number;
}

/** A longer text is not read at all, because its end could contradict its beginning. */
export const MAX_CHARACTERS = 50_000;

/**
 * Limits the work on a text of many braces, as each may require reading to the end of the text.
 * Prose with a few thousand balanced braces stays far below the limit.
 */
const MAX_STEPS = 5_000_000;

/**
 * The outermost JSON objects in a text, such as in a code fence or between sentences. Only
 * complete, valid JSON counts: a truncated object may be misleading (`"grade": 1` may be the
 * beginning of 10), and an object with a duplicate key is ambiguous.
 */
export function findObjects(text: string): FoundObject[] {
  if (text.length > MAX_CHARACTERS) return [];
  const found: FoundObject[] = [];
  let start = text.indexOf("{");
  let steps = 0;
  while (start >= 0 && steps < MAX_STEPS) {
    const { end, colons } = scanObject(text, start);
    steps += (end ?? text.length) - start;
    const value = end === undefined ? undefined : parseFields(text.slice(start, end));
    const isObject = value !== undefined && countKeys(value) === colons;
    if (isObject) found.push({ value, start, end: end! });
    // Objects inside an object with a duplicate key are not searched either.
    start = text.indexOf("{", value === undefined ? start + 1 : end);
  }
  return found;
}

/** The end of the object, and the number of its colons outside strings. */
function scanObject(text: string, start: number): { end?: number; colons: number } {
  let depth = 0;
  let colons = 0;
  let isInString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (isInString && character === "\\") i++;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === ":") colons++;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return { end: i + 1, colons };
  }
  return { colons };
}

/** In valid JSON every colon outside a string follows a key: fewer keys mean a duplicate. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, item) => sum + countKeys(item), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}
