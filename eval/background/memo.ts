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
 * Remembers what a function of a text gave, for the `capacity` texts used last. What it gives must
 * not be changed by whoever gets it.
 */
export function rememberLast<Output>(
  compute: (text: string) => Output,
  capacity: number,
  { longest = Infinity }: MemoLimits = {},
): (text: string) => Output {
  const known = new Map<string, Output>();
  return (text) => {
    if (text.length > longest) return compute(text);
    let result = known.get(text);
    if (result === undefined) {
      result = compute(text);
      const [oldest] = known.size >= capacity ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
    } else known.delete(text); // a Map keeps the order of insertion: the oldest is first
    known.set(text, result);
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
