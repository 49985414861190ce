import { rememberLast } from "./background/remember_last.ts";

/**
 * Scripts without spaces for which `Intl.Segmenter` has a dictionary. Runs in other such scripts
 * (Javanese, Tai Tham and so on) are not split.
 */
const SPACELESS = "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}" +
  "\\p{sc=Mymr}";

/** A family, a flag, or a thumb with a skin tone is one token. */
const EMOJI = "\\p{RI}{2}|\\p{ExtPict}\\p{EMod}?[\\u{e0020}-\\u{e007f}]*" +
  "(?:\\u200d\\p{ExtPict}\\p{EMod}?)*";

/** The first group is a run to be split, the second a word, and the rest an emoji. */
const TOKEN = new RegExp(
  `((?:(?=[${SPACELESS}])[\\p{L}\\p{M}\\p{N}])+\\p{M}*)` +
    `|((?:(?![${SPACELESS}])[\\p{L}\\p{M}\\p{N}])+)|${EMOJI}`,
  "gu",
);

/** Letters only: marks such as U+00B7 are used with Han and with other scripts, as in Catalan. */
const HAS_SPACELESS = new RegExp(`(?=[${SPACELESS}])\\p{L}`, "u");
const ASCII_ONLY = /^[\0-\x7f]*$/;

/**
 * NFKC decomposes the vowel AM of Thai and Lao, and no dictionary has words in that form. A tone
 * mark may be before or between the two halves.
 */
const THAI_AM = /\u0e4d([\u0e48-\u0e4b]?)\u0e32/g;
const LAO_AM = /\u0ecd([\u0ec8-\u0ecb]?)\u0eb2/g;

let segmenter: Intl.Segmenter | undefined;

/**
 * Splits by dictionary. The locale is fixed, so that scores do not depend on the machine. The
 * segmenter is created at its first use, because that takes 20 ms and most texts have spaces.
 */
export function wordSegments(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter("en", { granularity: "word" })).segment(text);
}

/** Several scores split the same two texts one after the other. */
const REMEMBERED = 2;
/** The longest text that any score takes. */
const LONGEST_COMPARED = 200_000;

/**
 * The words of a text in any script: NFKC, lower case, runs of letters, marks and digits; a run in
 * a script without spaces is split by dictionary, and an emoji is a word. For ASCII text these are
 * the tokens of Google's rouge_score without its stemmer.
 */
export const words = rememberLast(cutWords, REMEMBERED, { longest: LONGEST_COMPARED });

function cutWords(text: string): readonly string[] {
  if (ASCII_ONLY.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  // U+FE0F only selects the coloured form of a character.
  const plain = text.normalize("NFKC").toLowerCase().replaceAll("\ufe0f", "")
    .replace(THAI_AM, "$1\u0e33").replace(LAO_AM, "$1\u0eb3");
  const found: string[] = [];
  for (const match of plain.matchAll(TOKEN)) {
    if (match[1] === undefined) found.push(match[0]);
    else for (const { segment } of wordSegments(match[1])) found.push(segment);
  }
  return found;
}

/** Whether the text has a letter of a script that is written without spaces. */
export function isSpaceless(text: string): boolean {
  return HAS_SPACELESS.test(text);
}

/**
 * Runs without the blanks of Python's `str.split()`, as in the reference implementations. The
 * blanks of JavaScript's `\s` differ: they include U+FEFF but not U+001C–U+001F and U+0085.
 */
// deno-lint-ignore no-control-regex
const PIECES = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;

/** The parts of a text between blanks; `[]` if there are only blanks. */
export function splitBlanks(text: string): string[] {
  return text.match(PIECES) ?? [];
}

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
