/** An object found in a text, and the text it was read from. */
export interface FoundObject {
  source: string;
  value: unknown;
}

/** Against an answer of nothing but braces. */
const MAX_OBJECTS = 20;

/**
 * The outermost JSON objects in a text that is more than JSON: in a code fence, between sentences,
 * with a comma too many, or cut off at its end.
 */
export function findObjects(text: string): FoundObject[] {
  const found: FoundObject[] = [];
  let start = text.indexOf("{");
  while (start >= 0 && found.length < MAX_OBJECTS) {
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
