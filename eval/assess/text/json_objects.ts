import { type Fields, parseFields } from "../../../shared/fields.ts";

/** A JSON object found in a text; `end` is the index after its closing brace. */
export interface FoundObject {
  value: Fields;
  start: number;
  end: number;
}

/** A longer text is not read at all: what its beginning says could be taken back at its end. */
export const MAX_CHARACTERS = 50_000;

/**
 * Bounds the work on a text of nothing but braces, each of which may have to be read to the end of
 * the text. Prose with a few thousand balanced braces stays far below it.
 */
const MAX_STEPS = 5_000_000;

/**
 * The outermost JSON objects of a text that may be more than JSON: in a code fence, or between
 * sentences. Only complete, valid JSON counts: an object that is cut off could have gone on
 * (`"grade": 1` may be the beginning of 10), and one that has a key twice says two things.
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
    // The inside of an object with a key twice is not looked into either.
    start = text.indexOf("{", value === undefined ? start + 1 : end);
  }
  return found;
}

/** Where the braces are balanced again, and how many colons stand before; strings apart. */
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

/** In valid JSON every colon outside a string follows a key: fewer keys mean that one came twice. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, item) => sum + countKeys(item), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}
