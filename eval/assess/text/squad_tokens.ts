import { rememberLast } from "../background/remember_last.ts";
import { splitBlanks } from "./blanks.ts";
import { isSpaceless, words } from "./words.ts";

/** Two scores cut the same two texts, one after the other. */
const REMEMBERED = 2;
/** The longest text that any score takes. */
const LONGEST_COMPARED = 200_000;

/** Python's `string.punctuation`. */
const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/** Python's `\b(a|an|the)\b`, whose words are letters and digits of every script but no marks. */
const ARTICLES = /(?<![\p{L}\p{N}_])(?:an?|the)(?![\p{L}\p{N}_])/gu;

/** A text as SQuAD's v1.1 script compares it: lower-case, without ASCII punctuation and articles. */
const squadPieces = rememberLast(cutPieces, REMEMBERED, { longest: LONGEST_COMPARED });

/** The tokens of that script; text in a script without spaces, which it leaves whole, is cut. */
export const squadTokens = rememberLast(cutTokens, REMEMBERED, { longest: LONGEST_COMPARED });

/** The text that SQuAD's exact match compares. */
export function squadForm(text: string): string {
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
