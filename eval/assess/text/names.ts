import { words } from "./words.ts";

const MOST_WORDS = 4;
const CAPITALISED = /^\p{P}*[\p{Lu}\p{N}]/u;
/** Lower-case parts of names: `da`, `von`, `of`. */
const PARTICLE = /^\p{Ll}{1,3}$/u;
const SENTENCE_END = /[.!?]$/;
const CASED = /[\p{Lu}\p{Ll}]/u;
/** In scripts without capitals, up to two words may be a name. */
const MOST_WITHOUT_CAPITALS = 2;

/**
 * Whether a text is a single word or looks like a name: `oxygen`, `Leonardo da Vinci`, `東京`.
 *
 * ```ts
 * import { assert } from "@std/assert";
 *
 * assert(isName("Leonardo da Vinci") && !isName("Der Himmel ist blau."));
 * ```
 */
export function isName(text: string): boolean {
  const count = words(text).length;
  if (count <= 1) return true;
  if (!CASED.test(text)) return count <= MOST_WITHOUT_CAPITALS;
  const parts = text.trim().split(/\s+/u);
  return parts.length <= MOST_WORDS && !SENTENCE_END.test(parts.at(-1)!) &&
    CAPITALISED.test(parts.at(-1)!) &&
    parts.every((part) => CAPITALISED.test(part) || PARTICLE.test(part));
}
