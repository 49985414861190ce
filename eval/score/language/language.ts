import table from "./language_grams.bin" with { type: "bytes" };

/** Which language a text is in. */
interface IdentifiedLanguage {
  /** One of `LANGUAGES`; empty if the language cannot be identified. */
  code: string;
  /** Whether the text is long and clear enough to trust `code`. */
  isReliable: boolean;
  /** Whether it is English; `undefined` if unsure, as for the few words of a headline. */
  isEnglish?: boolean;
}

/** A longer text does not improve the result. */
const MAX_CHARACTERS = 1000;
/** A text is cut after the word that exceeds the first, or within a word at the second. */
const ENOUGH_BYTES = 350;
const MAX_BYTES = 380;
const WORD_BYTES = 70;
/** Separators of words: anything but letters, and apostrophes before them. */
const BETWEEN_WORDS = /(?:[^\p{L}]|[\u{10000}-\u{10ffff}])+(?<!['`’])/gu;
const SPACE = 32;
/** Bytes per gram inside a word, and the distance between the starts of two grams. */
const GRAM = 4;
const STRIDE = 3;
/** The longest gram is a word of four bytes between two spaces. */
const KEY_BYTES = 6;
/** The table stores scores minus this. */
const LEAST_SCORE = 53;
/** A mean score m is scaled to m / (m + this), between 0 and 1. */
const HALF_SCORE = 25;
const FEWEST_GRAMS = 3;
/** The share of its language's usual score that a reliable text reaches. */
const RELIABLE = 0.75;
/** With fewer grams, or if English has half of the best score, English is not excluded. */
const ENOUGH_GRAMS = 5;
const HALF_AS_LIKELY = 0.5;

const { languages, keys, starts, scores } = readTable(table);
const ENGLISH = languages.findIndex(({ code }) => code === "en");

/**
 * Identifies one of sixty languages by the bytes of its words, as the package `eld` does with its
 * small table; a test compares both. The package needs 108 MB and half a second to load the table,
 * which is JavaScript there; here it is a file of 2 MB.
 */
export function identifyLanguage(text: string): IdentifiedLanguage {
  const grams = gramsOf(text);
  const sums = new Float64Array(languages.length);
  for (const gram of grams) {
    const at = find(gram);
    if (at === undefined) continue;
    for (let pair = starts[at]!; pair < starts[at + 1]!; pair++) {
      sums[scores[2 * pair]!]! += scores[2 * pair + 1]! + LEAST_SCORE;
    }
  }
  const most = Math.max(...sums);
  if (most === 0) return { code: "", isReliable: false };
  const { code, usual } = languages[sums.indexOf(most)]!;
  const mean = most / grams.size;
  const score = mean / (mean + HALF_SCORE);
  const isReliable = grams.size >= FEWEST_GRAMS && score >= RELIABLE * usual;
  const isOther = grams.size >= ENOUGH_GRAMS && sums[ENGLISH]! < HALF_AS_LIKELY * most;
  if (!isReliable || code !== "en" && !isOther) return { code, isReliable };
  return { code, isReliable, isEnglish: code === "en" };
}

/**
 * Whether a text is English. If that cannot be told ("Hello"), `context` decides, such as the
 * references and messages of the batch. A text without letters is not English.
 */
export function isEnglish(text: string, context: string): boolean {
  if (!/\p{L}/u.test(text)) return false;
  return identifyLanguage(text).isEnglish ?? identifyLanguage(context).isEnglish ??
    !/[^\0-\x7f]/.test(text);
}

/** The distinct grams of a text, each as a number. */
function gramsOf(text: string): Set<number> {
  const words = text.slice(0, MAX_CHARACTERS).replace(BETWEEN_WORDS, " ").trim().toLowerCase();
  const bytes = cut(new TextEncoder().encode(` ${words} `));
  const grams = new Set<number>();
  for (let start = 1; start < bytes.length;) {
    const end = bytes.indexOf(SPACE, start);
    if (end > start) addGrams(grams, bytes, { start, end });
    start = end + 1;
  }
  return grams;
}

/** The beginning of a text, with a space before and after it. */
function cut(bytes: Uint8Array): Uint8Array {
  let end = bytes.indexOf(SPACE, ENOUGH_BYTES + 2);
  if (end < 0 || end > MAX_BYTES + 2) {
    end = MAX_BYTES + 2;
    while ((bytes[end]! & 0xc0) === 0x80) end++; // not within a character
    bytes[end] = SPACE;
  }
  return bytes.subarray(0, end + 1);
}

/** The first gram of a word includes the space before it, the last one the space after it. */
function addGrams(
  grams: Set<number>,
  bytes: Uint8Array,
  { start, end }: { start: number; end: number },
): void {
  const readEnd = Math.min(end, start + WORD_BYTES);
  let at = start;
  for (; at + GRAM < readEnd; at += STRIDE) {
    grams.add(keyOf(bytes, at === start ? at - 1 : at, at + GRAM));
  }
  const last = at === start ? at - 1 : readEnd - GRAM;
  // The end of a very long word counts as a gram that no language has.
  grams.add(end > readEnd ? -start : keyOf(bytes, last, end + 1));
}

/** The bytes as the digits of one number. */
function keyOf(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let i = start; i < end; i++) key = key * 256 + bytes[i]!;
  return key * 256 ** (KEY_BYTES - (end - start));
}

function find(key: number): number | undefined {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key ? low : undefined;
}

/**
 * The columns of the file, which `.ci/language_table.ts` describes. Gram `i`, of the key `keys[i]`,
 * has the pairs of a language and a score from `starts[i]` up to `starts[i + 1]`.
 */
function readTable(file: Uint8Array) {
  const headEnd = file.indexOf("\n".charCodeAt(0));
  const head: TableHead = JSON.parse(new TextDecoder().decode(file.subarray(0, headEnd)));
  const keysEnd = headEnd + 1 + head.grams * KEY_BYTES;
  const countsEnd = keysEnd + head.grams;
  const keys = new Float64Array(head.grams);
  const starts = new Uint32Array(head.grams + 1);
  for (let i = 0; i < head.grams; i++) {
    const at = headEnd + 1 + i * KEY_BYTES;
    keys[i] = keyOf(file, at, at + KEY_BYTES);
    starts[i + 1] = starts[i]! + file[keysEnd + i]!;
  }
  return { languages: head.languages, keys, starts, scores: file.subarray(countsEnd) };
}

/** The first line of the file, as JSON. */
export interface TableHead {
  /** `usual`: the score that texts in this language usually have. */
  languages: { code: string; usual: number }[];
  grams: number;
}
