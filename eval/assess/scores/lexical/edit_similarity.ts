import { distance } from "fastest-levenshtein";
import { type PairScorer, scoreOfEmpty } from "../score.ts";

/** The time grows with the product of the lengths; two texts of this length take 1.5 s. */
const MAX_EDIT_CHARACTERS = 80_000;

/**
 * 1 − Levenshtein distance / length of the longer text, in code points after NFC. `null` if a
 * text is longer than `MAX_EDIT_CHARACTERS`, or has too many different characters.
 */
export function editSimilarity(reply: string, reference: string): number | null {
  if (Math.max(reply.length, reference.length) > MAX_EDIT_CHARACTERS) return null;
  const empty = scoreOfEmpty(reply, reference);
  if (empty !== undefined) return empty;
  if (reply === reference) return 1; // frequent, and the slowest pair to compute
  const units = toCodeUnits(reply.normalize("NFC"), reference.normalize("NFC"));
  if (!units) return null;
  const [found, wanted] = units;
  return 1 - distance(found, wanted) / Math.max(found.length, wanted.length);
}

const SURROGATE = /[\ud800-\udfff]/;

/**
 * Converts both texts to one code unit per code point, because the library counts code units and an
 * emoji has two. `undefined` if there are too many different code points.
 */
function toCodeUnits(left: string, right: string): [string, string] | undefined {
  if (!SURROGATE.test(left) && !SURROGATE.test(right)) return [left, right];
  return renameCharacters(Array.from(left), Array.from(right));
}

/**
 * Only characters that are in both texts need a unit of their own: the others match nothing, so
 * each side uses one unit for all of them.
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

export const editSimilarityScorer: PairScorer = {
  name: "edit_similarity",
  definition: "1 − Levenshtein distance / longer length; null above 80,000 characters",
  range: [0, 1],
  method: "code points after NFC",
  longest: MAX_EDIT_CHARACTERS,
  compare: editSimilarity,
};
