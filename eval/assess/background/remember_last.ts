/** A text is the key that it is remembered by: thousands of megabytes would be gigabytes. */
const LONGEST_REMEMBERED = 20_000;

interface LastLimits {
  /** In UTF-16 code units. A longer text is computed every time, and nothing of it is kept. */
  longest?: number;
  /** Of all texts together, for results that grow with their texts; at most twice as many. */
  maxCharacters?: number;
}

/**
 * Remembers what a function of a text gave, for the texts used last: at least `capacity` of them,
 * and at most twice as many, because to know which of them was used longest ago would cost more
 * than many of the functions. Callers must not change the results.
 */
export function rememberLast<Output>(
  compute: (text: string) => Output,
  capacity: number,
  { longest = LONGEST_REMEMBERED, maxCharacters = Infinity }: LastLimits = {},
): (text: string) => Output {
  let recent = new Map<string, Output>();
  let older = recent;
  let characters = 0;
  return (text) => {
    if (text.length > longest) return compute(text);
    let result = recent.get(text);
    if (result !== undefined) return result;
    result = older.get(text) ?? compute(text);
    characters += text.length;
    if (recent.size >= capacity || characters > maxCharacters) {
      older = recent;
      recent = new Map();
      characters = text.length;
    }
    recent.set(text, result);
    return result;
  };
}
