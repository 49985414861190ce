import { rememberLast } from "../../background/remember_last.ts";
import { POSITIONS } from "./layout.ts";

export const UNKNOWN = 1;
const START = 2;
const END = 3;
const LONGEST_WORD = 60;
const REMEMBERED = 5000;

const HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2fa1f}";
const MARKS = "\\p{P}$+<=>^`|~";
// deno-lint-ignore no-control-regex
const INVISIBLE = /\ufffd|(?![\t-\r\x1c-\x1f\x85])\p{Cc}|[\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu;
/** Chinese characters and punctuation marks are single words. */
const WORD = new RegExp(
  `[${HAN}${MARKS}]|[^\\s\\x1c-\\x1f\\x85${HAN}${MARKS}]+`,
  "gu",
);
const ASCII_ONLY = /^[\t\n\r\x20-\x7e]*$/;

/** Converts a text to the ids of its word pieces, with those of the start and the end. */
type WordPieces = (text: string) => number[];

/**
 * BERT's WordPiece after NFKC: lower case, each word split into the longest pieces of the
 * vocabulary, which are in the order of their ids. At most `longest` ids.
 */
export function createWordPieces(vocabulary: string[], longest = POSITIONS): WordPieces {
  const ids = new Map(vocabulary.map((piece, id) => [piece, id]));
  const cut = rememberLast((word) => cutWord(word, ids), REMEMBERED, { longest: LONGEST_WORD });
  return (text) => {
    const found = [START];
    for (const [word] of plainText(text).matchAll(WORD)) {
      found.push(...cut(word));
      if (found.length >= longest) break;
    }
    found.length = Math.min(found.length, longest - 1);
    found.push(END);
    return found;
  };
}

function plainText(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toLowerCase();
  return text.normalize("NFKC").replace(INVISIBLE, "").toLowerCase();
}

function cutWord(word: string, ids: Map<string, number>): number[] {
  if (word.length > LONGEST_WORD) return [UNKNOWN];
  const pieces: number[] = [];
  for (let start = 0, end; start < word.length; start = end) {
    const prefix = start === 0 ? "" : "##";
    let id: number | undefined;
    for (end = word.length; end > start; end--) {
      id = ids.get(prefix + word.slice(start, end));
      if (id !== undefined) break;
    }
    if (id === undefined) return [UNKNOWN];
    pieces.push(id);
  }
  return pieces;
}
