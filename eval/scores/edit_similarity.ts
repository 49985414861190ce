import { distance } from "fastest-levenshtein";
import { splitBlanks } from "../text/blanks.ts";
import { scoreOfEmpty } from "./empty.ts";

/** The time grows with the product of the lengths: beyond this a score would take minutes. */
export const MAX_EDIT_WORDS = 20_000;

/** What counts as a word in a text without blanks, where words cannot be counted cheaply. */
const CODE_POINTS_A_WORD = 8;

/**
 * 1 − Levenshtein distance / length of the longer text, in code points after NFC. `null` where a
 * text has more than `MAX_EDIT_WORDS` words, a word being at most eight code points.
 */
export function editSimilarity(reply: string, reference: string): number | null {
  if (isTooLong(reply) || isTooLong(reference)) return null;
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  if (reply === reference) return 1; // the most frequent long pair, and the longest to count
  const units = toCodeUnits(reply.normalize("NFC"), reference.normalize("NFC"));
  if (!units) return null;
  const [found, wanted] = units;
  return 1 - distance(found, wanted) / Math.max(found.length, wanted.length);
}

function isTooLong(text: string): boolean {
  if (text.length <= MAX_EDIT_WORDS) return false;
  if (text.length > 2 * MAX_EDIT_WORDS * CODE_POINTS_A_WORD) return true;
  return Array.from(text).length > MAX_EDIT_WORDS * CODE_POINTS_A_WORD ||
    splitBlanks(text).length > MAX_EDIT_WORDS;
}

const SURROGATE = /[\ud800-\udfff]/;

/**
 * Both texts with one code unit a code point, because the library counts code units and an emoji
 * has two. `undefined` where there are too many different ones.
 */
function toCodeUnits(left: string, right: string): [string, string] | undefined {
  if (!SURROGATE.test(left) && !SURROGATE.test(right)) return [left, right];
  return renameCharacters(Array.from(left), Array.from(right));
}

/**
 * Only characters that both texts have need a unit of their own: the others match nothing, so each
 * side has one unit for all of them.
 */
function renameCharacters(left: string[], right: string[]): [string, string] | undefined {
  const inLeft = new Set(left);
  const shared = new Map<string, string>();
  for (const character of right) {
    if (inLeft.has(character) && !shared.has(character)) {
      shared.set(character, String.fromCharCode(shared.size + 2));
    }
  }
  if (shared.size + 2 > 0x10000) return undefined;
  const encode = (characters: string[], other: string) =>
    characters.map((character) => shared.get(character) ?? other).join("");
  return [encode(left, "\0"), encode(right, "\x01")];
}
