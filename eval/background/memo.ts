/**
 * What memos that outlive a comparison are given as `longest`: a text is the key it is remembered
 * by, and thousands of texts of megabytes would be gigabytes.
 */
export const LONGEST_REMEMBERED = 20_000;

/** Which texts a memo keeps. */
export interface MemoLimits {
  /** In UTF-16 code units. A longer text is computed every time, and nothing of it is kept. */
  longest?: number;
}

/**
 * Remembers what a function of a text gave, for the texts used last: at least `capacity` of them,
 * and at most twice as many, because to know which of them was used longest ago would cost more than
 * many of the functions. What it gives must not be changed by whoever gets it.
 */
export function rememberLast<Output>(
  compute: (text: string) => Output,
  capacity: number,
  { longest = Infinity }: MemoLimits = {},
): (text: string) => Output {
  let recent = new Map<string, Output>();
  let older = recent;
  return (text) => {
    if (text.length > longest) return compute(text);
    let result = recent.get(text);
    if (result !== undefined) return result;
    result = older.get(text) ?? compute(text);
    if (recent.size >= capacity) {
      older = recent;
      recent = new Map();
    }
    recent.set(text, result);
    return result;
  };
}

/**
 * Remembers what a function of a text gave, for the texts used last. A call under way is shared,
 * and a failure is forgotten.
 */
export function createMemo<Output>(
  compute: (text: string) => Promise<Output>,
  { capacity, longest = Infinity }: MemoLimits & { capacity: number },
): (text: string) => Promise<Output> {
  const known = new Map<string, Promise<Output>>();
  return (text) => {
    if (text.length > longest) return compute(text);
    const remembered = known.get(text);
    if (remembered) {
      known.delete(text); // a Map keeps the order of insertion: the oldest is first
      known.set(text, remembered);
      return remembered;
    }
    const result = compute(text);
    known.set(text, result);
    result.catch(() => {
      if (known.get(text) === result) known.delete(text);
    });
    const [oldest] = known.keys();
    if (known.size > capacity && oldest !== undefined) known.delete(oldest);
    return result;
  };
}
