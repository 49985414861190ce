import { createHash } from "node:crypto";
import { createYielder } from "../../../shared/yielder.ts";

/**
 * A longer text is known to a memo by its digest: the text itself may be much larger than the
 * result.
 */
const LONGEST_KEY = 2000;
/** To digest a longer text takes milliseconds, and long texts seldom repeat. */
const LONGEST_DIGESTED = 1_000_000;

/** What one memo may hold by default. */
const MEMO_BYTES = 32 * 1024 * 1024;
/** What an entry takes beside its text, if nothing else is known. */
const RESULT_BYTES = 2048;

interface MemoOptions<Output> {
  /** Of all keys and results together. */
  maxBytes?: number;
  /** What a result takes. */
  sizeOf?: (output: Output) => number;
}

/**
 * Remembers what a function of a text gave, for the texts used last. A call under way is shared,
 * and a failure is forgotten.
 */
export function createMemo<Output>(
  compute: (text: string) => Promise<Output>,
  options: MemoOptions<Output> = {},
): (text: string) => Promise<Output> {
  return createSharedMemo<Output>(options).of(compute);
}

/** One number of bytes for what several functions gave. */
interface SharedMemo<Output> {
  /**
   * The function with a memory of its own. A result is forgotten unless
   * `isLasting` says that the same text would give it again.
   */
  of(
    compute: (text: string) => Promise<Output>,
    isLasting?: (output: Output) => boolean,
  ): (text: string) => Promise<Output>;
}

export function createSharedMemo<Output>(
  { maxBytes = MEMO_BYTES, sizeOf = () => RESULT_BYTES }: MemoOptions<Output> = {},
): SharedMemo<Output> {
  const known = new Map<string, { result: Promise<Output>; bytes: number }>();
  let bytes = 0;
  let functions = 0;
  const yieldIfDue = createYielder();

  function forgetOldest(): void {
    for (const [key, oldest] of known) { // a Map keeps the order of insertion
      if (bytes <= maxBytes) break;
      known.delete(key);
      bytes -= oldest.bytes;
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
          return remembered.result;
        }
        const entry = { result: compute(text), bytes: 0 };
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

      /** Several digests may end together, and what is computed of each text takes milliseconds. */
      async function recallLong(text: string): Promise<Output> {
        const digest = createHash("sha256").update(text).digest("hex");
        while (yieldIfDue.isDue()) await yieldIfDue();
        return await recall(`${prefix}#${digest}`, text);
      }

      return (text) => {
        if (text.length > LONGEST_DIGESTED) return compute(text);
        // A character after the prefix keeps a short text apart from the digest of a long one.
        if (text.length <= LONGEST_KEY) return recall(`${prefix}=${text}`, text);
        return recallLong(text);
      };
    },
  };
}
