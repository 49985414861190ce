import { digestOf } from "../../../shared/digest.ts";
import { createYielder } from "../../../shared/yielder.ts";
import type { MemoLimits } from "./remember_last.ts";

/**
 * A longer text is known to a memo by its digest: the text itself may be much larger than the
 * result.
 */
const LONGEST_KEY = 2000;
/** To digest a longer text takes milliseconds, and long texts seldom repeat. */
const LONGEST_DIGESTED = 1_000_000;

/** What one memo may hold by default. */
const MEMO_BYTES = 32 * 1024 * 1024;
/** What an entry takes beside its text: the result, and the bookkeeping. */
const RESULT_BYTES = 2048;

interface MemoOptions extends MemoLimits {
  /** Most texts; unset, only the bytes count. */
  capacity?: number;
  /** Most bytes, estimated from the lengths of the keys and `resultBytes` for each. */
  maxBytes?: number;
  resultBytes?: number;
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
interface SharedMemo<Output> {
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
  const yieldIfDue = createYielder();

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

      function recall(key: string, text: string): Promise<Output> {
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
      }

      /** Several digests may end together, and what is computed of each text takes milliseconds. */
      async function recallLong(text: string): Promise<Output> {
        const digest = await digestOf([text]);
        while (yieldIfDue.isDue()) await yieldIfDue();
        return await recall(`${prefix}#${digest}`, text);
      }

      return (text) => {
        if (text.length > longest) return compute(text);
        // A character after the prefix keeps a short text apart from the digest of a long one.
        if (text.length <= LONGEST_KEY) return recall(`${prefix}=${text}`, text);
        return recallLong(text);
      };
    },
  };
}
