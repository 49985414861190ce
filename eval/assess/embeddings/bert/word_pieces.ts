import { rememberLast } from "../../background/remember_last.ts";

const UNKNOWN = 100;
const START = 101;
const END = 102;
const LONGEST_WORD = 100;
const REMEMBERED = 5000;

const HAN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{2fa1f}";
const MARKS = "\\p{P}$+<=>^`|~";
/** Chinese characters and punctuation marks are single words. */
const WORD = new RegExp(`[${HAN}${MARKS}]|[^\\s${HAN}${MARKS}]+`, "gu");
const INVISIBLE = /\ufffd|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu;
const ASCII_ONLY = /^[\t\n\r\x20-\x7e]*$/;

/** Converts a text to the ids of its word pieces. */
export type WordPieces = (text: string) => number[];

/**
 * BERT's uncased WordPiece: lower case, without accents, each word split into the longest pieces of
 * the vocabulary. At most `longest` ids, including those of the start and the end.
 */
export function createWordPieces(vocabulary: string[], longest: number): WordPieces {
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
  const lower = text.toLowerCase();
  if (ASCII_ONLY.test(lower)) return lower;
  return lower.replace(INVISIBLE, "").normalize("NFD").replace(/\p{Mn}/gu, "");
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
