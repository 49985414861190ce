import { MAX_PAIR_CHARACTERS, type PairScorer } from "../../score.ts";
import { rememberLast } from "../../background/remember_last.ts";
import { isSpaceless, splitBlanks, words } from "../../words.ts";
import { countItems, countShared, f1 } from "../../text/overlap.ts";

/** Two scores tokenise the same two texts one after the other. */
const REMEMBERED = 2;

/** Python's `string.punctuation`. */
const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/** Python's `\b(a|an|the)\b`: words have letters and digits of every script, but no marks. */
const ARTICLES = /(?<![\p{L}\p{N}_])(?:an?|the)(?![\p{L}\p{N}_])/gu;

/**
 * The text as SQuAD's v1.1 script compares it: lower case, without ASCII punctuation and articles.
 */
const squadPieces = rememberLast(cutPieces, REMEMBERED, { longest: MAX_PAIR_CHARACTERS });

/** The tokens of that program, except that text in a script without spaces is split into words. */
export const squadTokens = rememberLast(cutTokens, REMEMBERED, { longest: MAX_PAIR_CHARACTERS });

/** The text that SQuAD's exact match compares. */
function squadForm(text: string): string {
  return squadPieces(text).join(" ");
}

function cutPieces(text: string): readonly string[] {
  return splitBlanks(text.toLowerCase().replace(PUNCTUATION, "").replace(ARTICLES, " "));
}

function cutTokens(text: string): readonly string[] {
  const pieces = squadPieces(text);
  if (!isSpaceless(text)) return pieces;
  return pieces.flatMap((piece) => isSpaceless(piece) ? words(piece) : [piece]);
}

/**
 * 1 if both texts are the same after SQuAD v1.1 normalisation, else 0.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(exactMatch("The capital is Paris.", "capital is paris"), 1);
 * assertEquals(exactMatch("Paris", "Lyon"), 0);
 * ```
 */
export function exactMatch(reply: string, reference: string): number {
  return squadForm(reply) === squadForm(reference) ? 1 : 0;
}

export const exactMatchScorer: PairScorer = {
  name: "exact_match",
  definition: "1 if both texts are the same after normalisation, else 0",
  range: [0, 1],
  method: "lower-case, ASCII punctuation and a/an/the out",
  equals: "SQuAD v1.1 evaluation script",
  longest: MAX_PAIR_CHARACTERS,
  compare: exactMatch,
};

/**
 * F1 over the bags of SQuAD tokens. If normalisation leaves both texts empty ("The" and "A"), they
 * match and score 1, as in SQuAD's v2.0 script; v1.1 gives 0.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * // Two of three words are wanted, and both wanted words are there: 2 · (2/3 · 1) / (2/3 + 1)
 * assertEquals(tokenF1("in Paris, France", "Paris, France"), 0.8);
 * ```
 */
export function tokenF1(reply: string, reference: string): number {
  const found = squadTokens(reply);
  const wanted = squadTokens(reference);
  if (found.length === 0 && wanted.length === 0) return 1;
  return f1(countShared(countItems(found), countItems(wanted)), {
    found: found.length,
    wanted: wanted.length,
  });
}

export const tokenF1Scorer: PairScorer = {
  name: "token_f1",
  definition: "F1 over the bags of normalised tokens",
  range: [0, 1],
  method: "tokens as in exact_match; text in a script without spaces is cut by dictionary",
  equals: "SQuAD v1.1 evaluation script, on text with spaces",
  longest: MAX_PAIR_CHARACTERS,
  compare: tokenF1,
};
