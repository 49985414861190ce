import { createHash } from "node:crypto";

/**
 * What memos that outlive a comparison are given as `longest`: a text is the key it is remembered
 * by, and thousands of texts of megabytes would be gigabytes.
 */
export const LONGEST_REMEMBERED = 20_000;

/**
 * A longer text is known to a memo by its digest: the text itself may be much larger than the
 * result.
 */
const LONGEST_KEY = 2000;
/** A digest of a longer text would hold the event loop for milliseconds. */
const LONGEST_DIGESTED = 1_000_000;

/** What one memo may hold by default. */
const MEMO_BYTES = 32 * 1024 * 1024;
/** What an entry takes beside its text: the result, and the bookkeeping. */
const RESULT_BYTES = 2048;

/** Which texts a memo keeps. */
export interface MemoLimits {
  /** In UTF-16 code units. A longer text is computed every time, and nothing of it is kept. */
  longest?: number;
}

export interface LastLimits extends MemoLimits {
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

export interface MemoOptions extends MemoLimits {
  /** Most texts; unset, only the bytes count. */
  capacity?: number;
  /** Most bytes, estimated from the lengths of the keys and `resultBytes` for each. */
  maxBytes?: number;
  resultBytes?: number;
}

/** The first character keeps a short text apart from the digest of a long one. */
function keyOf(text: string): string {
  if (text.length <= LONGEST_KEY) return `=${text}`;
  return `#${createHash("sha256").update(text).digest("base64")}`;
}

/**
 * Remembers what a function of a text gave, for the texts used last. A call under way is shared,
 * and a failure is forgotten.
 */
export function createMemo<Output>(
  compute: (text: string) => Promise<Output>,
  options: MemoOptions = {},
): (text: string) => Promise<Output> {
  return createSharedMemo<Output>(options).of(compute);
}

/** One number of bytes for what several functions gave. */
export interface SharedMemo<Output> {
  /**
   * The function with a memory; nobody else finds what it remembers. A result is forgotten unless
   * `isLasting` says that the same text would give it again.
   */
  of(
    compute: (text: string) => Promise<Output>,
    isLasting?: (output: Output) => boolean,
  ): (text: string) => Promise<Output>;
}

export function createSharedMemo<Output>(options: MemoOptions = {}): SharedMemo<Output> {
  const { capacity = Infinity, longest = LONGEST_DIGESTED } = options;
  const { maxBytes = MEMO_BYTES, resultBytes = RESULT_BYTES } = options;
  const known = new Map<string, Promise<Output>>();
  let bytes = 0;
  let functions = 0;

  const sizeOf = (key: string) => 2 * key.length + resultBytes;

  function forget(key: string, result: Promise<Output>): void {
    if (known.get(key) !== result) return;
    known.delete(key);
    bytes -= sizeOf(key);
  }

  function keep(key: string, result: Promise<Output>): void {
    known.set(key, result);
    bytes += sizeOf(key);
    for (const [oldest, its] of known) { // a Map keeps the order of insertion
      if (known.size <= capacity && bytes <= maxBytes) break;
      forget(oldest, its);
    }
  }

  return {
    of(compute, isLasting = () => true) {
      const prefix = `${functions++}:`;
      return (text) => {
        if (text.length > longest) return compute(text);
        const key = prefix + keyOf(text);
        const remembered = known.get(key);
        if (remembered) {
          known.delete(key); // and set again, as the one used last
          known.set(key, remembered);
          return remembered;
        }
        const result = compute(text);
        keep(key, result);
        result.then(
          (output) => isLasting(output) || forget(key, result),
          () => forget(key, result),
        );
        return result;
      };
    },
  };
}
