/** Texts are kept as keys, so that thousands of long ones would take gigabytes. */
const LONGEST_REMEMBERED = 20_000;

interface LastLimits {
  /** In UTF-16 code units. The result of a longer text is not kept. */
  longest?: number;
  /** In total, for results that grow with their texts. Up to twice as many are kept. */
  maxCharacters?: number;
}

/**
 * Remembers the results of a function for the texts used last: between `capacity` and twice as
 * many, because an exact order of use would cost more than some of these functions. Callers must
 * not modify the results.
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
