import { f1, lcsLength } from "../../text/overlap.ts";
import { words } from "../../words.ts";
import { type PairScorer, scoreOfEmpty, scoreOfWordless } from "../../score.ts";

/**
 * F1 over the longest common subsequence of words.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(rougeL("we ship in two days", "we ship in two days"), 1);
 * assertEquals(rougeL("no idea", "we ship in two days"), 0);
 * ```
 */
export function rougeL(reply: string, reference: string): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  const found = words(reply);
  const wanted = words(reference);
  if (found.length === 0 && wanted.length === 0) return scoreOfWordless(reply, reference);
  return f1(lcsLength(found, wanted), { found: found.length, wanted: wanted.length });
}

export const rougeScorer: PairScorer = {
  name: "rouge_l",
  definition: "F1 over the longest common subsequence of words; null above 80,000 characters",
  range: [0, 1],
  method: "words: NFKC, lower-case, runs of letters, marks and digits; scripts without spaces " +
    "are cut by dictionary; an emoji is a word",
  equals: "Google rouge_score without stemmer, on ASCII text",
  // The time grows with the product of the lengths.
  longest: 80_000,
  compare: rougeL,
};
