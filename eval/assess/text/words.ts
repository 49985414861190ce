import { rememberLast } from "../background/remember_last.ts";

/**
 * Scripts written without spaces that `Intl.Segmenter` has a dictionary for. The others of their
 * kind (Javanese, Tai Tham and so on) stay whole runs: no one could cut them here.
 */
const SPACELESS = "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}" +
  "\\p{sc=Mymr}";

/** A family, a flag, a thumb with its skin tone: one token, as a reader sees one sign. */
const EMOJI = "\\p{RI}{2}|\\p{ExtPict}\\p{EMod}?[\\u{e0020}-\\u{e007f}]*" +
  "(?:\\u200d\\p{ExtPict}\\p{EMod}?)*";

/** The first group is a run to be cut, the second an ordinary word, the rest is an emoji. */
const TOKEN = new RegExp(
  `((?:(?=[${SPACELESS}])[\\p{L}\\p{M}\\p{N}])+\\p{M}*)` +
    `|((?:(?![${SPACELESS}])[\\p{L}\\p{M}\\p{N}])+)|${EMOJI}`,
  "gu",
);

/** Letters only: signs such as U+00B7 are used with Han and with others, as in Catalan. */
const HAS_SPACELESS = new RegExp(`(?=[${SPACELESS}])\\p{L}`, "u");
const ASCII_ONLY = /^[\0-\x7f]*$/;

/**
 * NFKC takes the Thai and the Lao vowel AM apart, and no dictionary has a word in that form. A tone
 * mark may stand before or between the two halves.
 */
const THAI_AM = /\u0e4d([\u0e48-\u0e4b]?)\u0e32/g;
const LAO_AM = /\u0ecd([\u0ec8-\u0ecb]?)\u0eb2/g;

let segmenter: Intl.Segmenter | undefined;

/**
 * Cuts by dictionary. A fixed locale: a score must not depend on the machine's. Made at the first use,
 * because that takes 20 ms, and most texts have spaces.
 */
export function wordSegments(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter("en", { granularity: "word" })).segment(text);
}

/** Several scores cut the same two texts, one after the other. */
const REMEMBERED = 2;
/** The longest text that any score takes. */
const LONGEST_COMPARED = 200_000;

/**
 * The words of a text in any script: NFKC, lower-case, runs of letters, marks and digits; a run in
 * a script without spaces is cut by dictionary, and an emoji is a word. On ASCII text these are the
 * tokens of Google's rouge_score without its stemmer.
 */
export const words = rememberLast(cutWords, REMEMBERED, { longest: LONGEST_COMPARED });

function cutWords(text: string): readonly string[] {
  if (ASCII_ONLY.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  // U+FE0F only asks for the coloured form of a sign: with and without it is the same word.
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
