import { rememberLast } from "../background/memo.ts";
import { splitBlanks } from "./blanks.ts";
import { isSpaceless, words } from "./words.ts";

/** Two scores cut the same two texts, one after the other. */
const REMEMBERED = 2;

/** Python's `string.punctuation`. */
const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/** Python's `\b(a|an|the)\b`, whose words are letters and digits of every script but no marks. */
const ARTICLES = /(?<![\p{L}\p{N}_])(?:an?|the)(?![\p{L}\p{N}_])/gu;

/**
 * A text as SQuAD's v1.1 script compares it: lower-case, without ASCII punctuation and articles,
 * cut at blanks. Pieces in a script without spaces, which that script leaves whole, become words.
 */
export const squadTokens = rememberLast(cutTokens, REMEMBERED);

function cutTokens(text: string): readonly string[] {
  const plain = text.toLowerCase().replace(PUNCTUATION, "").replace(ARTICLES, " ");
  const pieces = splitBlanks(plain);
  if (!isSpaceless(plain)) return pieces;
  return pieces.flatMap((piece) => isSpaceless(piece) ? words(piece) : [piece]);
}
