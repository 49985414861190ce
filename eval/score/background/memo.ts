import { createHash } from "node:crypto";
import { createYielder } from "../../../shared/service/waiting.ts";

/**
 * A longer text is stored by its digest: the text itself may be much larger than the result.
 */
const LONGEST_KEY = 2000;
/** Digesting a longer text takes milliseconds, and long texts seldom repeat. */
const LONGEST_DIGESTED = 1_000_000;

/** The memory of one memo by default. */
const MEMO_BYTES = 32 * 1024 * 1024;
/** The assumed size of a result without `sizeOf`. */
const RESULT_BYTES = 2048;

interface MemoOptions<Output> {
  /** Of all keys and results together. */
  maxBytes?: number;
  /** The size of a result in bytes. */
  sizeOf?: (output: Output) => number;
}

/**
 * Remembers the results of a function for the texts used last. Concurrent calls for one text share
 * their result, and a failure is forgotten.
 */
export function createMemo<Output>(
  compute: (text: string) => Promise<Output>,
  options: MemoOptions<Output> = {},
): (text: string) => Promise<Output> {
  return createSharedMemo<Output>(options).of(compute);
}

/** Several memos with one memory budget. `More` is what computing takes besides the text. */
export function createSharedMemo<Output, More extends unknown[] = []>(
  { maxBytes = MEMO_BYTES, sizeOf = () => RESULT_BYTES }: MemoOptions<Output> = {},
) {
  const known = new Map<string, { result: Promise<Output>; bytes: number }>();
  let bytes = 0;
  let functions = 0;
  const yieldIfDue = createYielder();

  function forgetOldest(): void {
    for (const [key, oldest] of known) { // in the order of insertion
      if (bytes <= maxBytes) break;
      known.delete(key);
      bytes -= oldest.bytes;
    }
  }

  return {
    /**
     * A memo of `compute`. A result is forgotten unless `isLasting` says that the same text would
     * give it again.
     */
    of(
      compute: (text: string, ...more: More) => Promise<Output>,
      isLasting: (output: Output) => boolean = () => true,
    ): (text: string, ...more: More) => Promise<Output> {
      const prefix = `${functions++}:`;

      function recall(key: string, text: string, more: More): Promise<Output> {
        const remembered = known.get(key);
        if (remembered) {
          known.delete(key); // set again below, as the one used last
          known.set(key, remembered);
          return remembered.result;
        }
        const entry = { result: compute(text, ...more), bytes: 0 };
        known.set(key, entry);
        const isKnown = () => known.get(key) === entry;
        entry.result.then((output) => {
          if (!isKnown()) return;
          if (!isLasting(output)) return known.delete(key);
          entry.bytes = 2 * key.length + sizeOf(output);
          bytes += entry.bytes;
          forgetOldest();
        }, () => isKnown() && known.delete(key));
        return entry.result;
      }

      /** Yields: several digests may end at once, and each computation takes milliseconds. */
      async function recallLong(text: string, more: More): Promise<Output> {
        const digest = createHash("sha256").update(text).digest("hex");
        while (yieldIfDue.isDue()) await yieldIfDue();
        return await recall(`${prefix}#${digest}`, text, more);
      }

      return (text, ...more) => {
        if (text.length > LONGEST_DIGESTED) return compute(text, ...more);
        // `=` and `#` keep short texts and digests apart.
        if (text.length <= LONGEST_KEY) return recall(`${prefix}=${text}`, text, more);
        return recallLong(text, more);
      };
    },
  };
}
