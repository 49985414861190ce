import { isWordless } from "../text/wordless.ts";

/** The main script of a text, which decides how it is compared. */
type Script = "latin" | "cyrillic" | "cjk" | "other";

/**
 * The version of the numbers in `METHODS`. Change it with them: scores of two versions have
 * different scales and must not be averaged.
 */
export const CALIBRATION = "c2";

/** The same for languages other than English. */
const TWO_ENDS = "c3";

/** The same for `compareWordless`. Change it with its results. */
const WORDLESS = "c6";

/** The same for the layers that compare two texts, and their weights. */
export const AGREEMENT = "a4";

/** How the built-in encoders compare texts of one kind. */
export interface SimilarityMethod {
  /** In `score_methods`, with the version of the calibration. */
  name: string;
  /** The encoder of the sentence vectors. */
  encoder: "english" | "cjk";
  /** By the layers that compare two texts, by vectors and characters, or by the final answer. */
  by: "agreement" | "grams" | "answer";
  /** The weight of the cosine of the vectors; that of the characters has the rest. */
  share: number;
  /** The figure that becomes 0: the average of unrelated texts. */
  floor: number;
  /** The figure that becomes `PASS`. */
  threshold: number;
}

/** What the figure at `threshold` becomes: the default `pass_threshold`. */
const PASS = 0.7;

/**
 * MiniLM was trained on English, knows much of other European languages by their word pieces, and
 * little of other scripts: the further from English, the larger the share of the characters.
 * Beside English both ends of the scale were taken from the training part of stsb-multi-mt (de,
 * es, fr, it, nl, pl, pt as `latin`; ru; ja; zh): `floor` is the mean mix of sentences paired at
 * random, and `threshold` the mix that about 17 % of the pairs which people rate 1 to 2 of 5
 * exceed; the floor of Japanese is higher, for unrelated sentences of the development part are
 * nearer. There is no such data for `other`, which has the numbers of `cyrillic`. `deno task bench
 * similarity-scale` prints both again, and what comes of them for the development part.
 */
export const METHODS = {
  english: {
    name: `minilm+agreement/${AGREEMENT}`,
    encoder: "english",
    by: "agreement",
    share: 0,
    floor: 0,
    threshold: 0.49,
  },
  latin: {
    name: `minilm+grams/latin-${TWO_ENDS}`,
    encoder: "english",
    by: "grams",
    share: 0.4,
    floor: 0.21,
    threshold: 0.64,
  },
  cyrillic: {
    name: `minilm+grams/cyrillic-${TWO_ENDS}`,
    encoder: "english",
    by: "grams",
    share: 0.2,
    floor: 0.14,
    threshold: 0.53,
  },
  chinese: {
    name: `bge-zh/chinese-${TWO_ENDS}`,
    encoder: "cjk",
    by: "grams",
    share: 1,
    floor: 0.34,
    threshold: 0.78,
  },
  japanese: {
    name: `bge-zh+grams/japanese-${TWO_ENDS}`,
    encoder: "cjk",
    by: "grams",
    share: 0.8,
    floor: 0.53,
    threshold: 0.75,
  },
  /** Chinese and Japanese without the second encoder. */
  cjk: {
    name: `minilm+grams/cjk-${TWO_ENDS}`,
    encoder: "english",
    by: "grams",
    share: 0.2,
    floor: 0.11,
    threshold: 0.45,
  },
  other: {
    name: `minilm+grams/other-${TWO_ENDS}`,
    encoder: "english",
    by: "grams",
    share: 0.2,
    floor: 0.14,
    threshold: 0.53,
  },
  wordless: {
    name: `answer/wordless-${WORDLESS}`,
    encoder: "english",
    by: "answer",
    share: 0,
    floor: 0,
    threshold: PASS,
  },
} as const satisfies Record<string, SimilarityMethod>;

/**
 * Depends on the reference and its language only; `isChinese` counts for texts in Han characters. A
 * reference without letters is compared by its numbers: to the encoder 42 and 43, or two emoji, are
 * nearly the same.
 */
export function chooseMethod(
  reference: string,
  known: { isEnglish: boolean; isChinese: boolean; hasCjkEncoder: boolean },
): SimilarityMethod {
  if (isWordless(reference)) return METHODS.wordless;
  const script = mainScript(reference);
  if (script === "latin" && known.isEnglish) return METHODS.english;
  if (script !== "cjk" || !known.hasCjkEncoder) return METHODS[script];
  return known.isChinese ? METHODS.chinese : METHODS.japanese;
}

const SCRIPTS: [Script, RegExp][] = [
  ["latin", /\p{Script=Latin}/gu],
  ["cyrillic", /\p{Script=Cyrillic}/gu],
  ["cjk", /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu],
];
/** Enough of a text to identify its script. */
const MAX_CHARACTERS = 2000;
/** Such a character is a larger part of a word than a letter, so it counts twice. */
const CJK_WEIGHT = 2;

function mainScript(text: string): Script {
  const beginning = text.slice(0, MAX_CHARACTERS);
  const letters = beginning.match(/\p{L}/gu)?.length ?? 0;
  let rest = letters;
  let best: Script = "latin";
  let most = 0;
  for (const [script, pattern] of SCRIPTS) {
    const found = beginning.match(pattern)?.length ?? 0;
    rest -= found;
    const weight = script === "cjk" ? CJK_WEIGHT * found : found;
    if (weight > most) [best, most] = [script, weight];
  }
  return rest > most ? "other" : best;
}

/**
 * Maps a figure in [0, 1] to the scale that all methods share: the floor, the threshold and 1
 * become 0, 0.7 and 1, linearly between them.
 */
export function calibrate(
  figure: number,
  { floor, threshold }: Pick<SimilarityMethod, "floor" | "threshold">,
): number {
  if (figure <= floor) return 0;
  if (figure <= threshold) return PASS * (figure - floor) / (threshold - floor);
  return PASS + (1 - PASS) * (figure - threshold) / (1 - threshold);
}
