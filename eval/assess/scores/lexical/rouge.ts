import { f1, lcsLength, sharedNgrams } from "../../text/overlap.ts";
import { words } from "../../text/words.ts";
import { MAX_PAIR_CHARACTERS, type PairScorer, scoreOfEmpty, scoreOfWordless } from "../score.ts";

/** F1 over the bags of words. */
export function rouge1(reply: string, reference: string): number {
  return rouge(reply, reference, (found, wanted) => ngramF1(found, wanted, 1));
}

/** F1 over the bags of word pairs; 0 if a text has only one word, even if both are equal. */
export function rouge2(reply: string, reference: string): number {
  return rouge(reply, reference, (found, wanted) => ngramF1(found, wanted, 2));
}

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
  return rouge(
    reply,
    reference,
    (found, wanted) => f1(lcsLength(found, wanted), { found: found.length, wanted: wanted.length }),
  );
}

function rouge(
  reply: string,
  reference: string,
  compare: (found: readonly string[], wanted: readonly string[]) => number,
): number {
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  const found = words(reply);
  const wanted = words(reference);
  if (found.length === 0 && wanted.length === 0) return scoreOfWordless(reply, reference);
  return compare(found, wanted);
}

function ngramF1(found: readonly string[], wanted: readonly string[], order: number): number {
  const shared = sharedNgrams(found, wanted, order).at(-1)!;
  return f1(shared, {
    found: found.length - order + 1,
    wanted: wanted.length - order + 1,
  });
}

const ROUGE = "Google rouge_score without stemmer, on ASCII text";
const WORDS =
  "words: NFKC, lower-case, runs of letters, marks and digits; scripts without spaces " +
  "are cut by dictionary; an emoji is a word";
/** The time of `rouge_l` grows with the product of the lengths. */
const MAX_ROUGE_L_CHARACTERS = 80_000;

export const rougeScorers: PairScorer[] = [
  {
    name: "rouge_1",
    definition: "F1 over the bags of words",
    range: [0, 1],
    method: WORDS,
    equals: ROUGE,
    longest: MAX_PAIR_CHARACTERS,
    compare: rouge1,
  },
  {
    name: "rouge_2",
    definition: "F1 over the bags of word pairs; 0 if a side has one word",
    range: [0, 1],
    method: WORDS,
    equals: ROUGE,
    longest: MAX_PAIR_CHARACTERS,
    compare: rouge2,
  },
  {
    name: "rouge_l",
    definition: "F1 over the longest common subsequence of words; null above 80,000 characters",
    range: [0, 1],
    method: WORDS,
    equals: ROUGE,
    longest: MAX_ROUGE_L_CHARACTERS,
    compare: rougeL,
  },
];
