/** An object found in a text, and the text it was read from. */
export interface FoundObject {
  source: string;
  value: unknown;
}

/**
 * Against an answer of nothing but braces: each may be read to the end of the text, whether it
 * turns out to be an object or not. Together they bound the work to a tenth of a second or so.
 */
const MAX_ATTEMPTS = 100;
const MAX_CHARACTERS = 50_000;

/**
 * The outermost JSON objects in a text that is more than JSON: in a code fence, between sentences,
 * with a comma too many, or cut off at its end. None in a text that is too long: what its beginning
 * says could be taken back at its end.
 */
export function findObjects(text: string): FoundObject[] {
  if (text.length > MAX_CHARACTERS) return [];
  const found: FoundObject[] = [];
  let start = text.indexOf("{");
  for (let attempts = 0; start >= 0 && attempts < MAX_ATTEMPTS; attempts++) {
    const end = endOfObject(text, start);
    const source = text.slice(start, end);
    const value = parseRepaired(source);
    if (value !== undefined) found.push({ source, value });
    start = text.indexOf("{", value === undefined ? start + 1 : end);
  }
  return found;
}

/** Where the braces are balanced again, those in strings apart; else the end of the text. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (isInString && character === "\\") i++;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && character === "{") depth++;
    else if (!isInString && character === "}" && --depth === 0) return i + 1;
  }
  return text.length;
}

function parseRepaired(source: string): unknown {
  const plain = source.replace(/,(\s*[}\]])/g, "$1");
  for (const candidate of [source, plain, `${plain}}`, `${plain}"}`]) {
    try {
      return JSON.parse(candidate);
    } catch { /* the next may do */ }
  }
  return undefined;
}
