import { isWordless } from "../text/wordless.ts";

/** The part of a text's letters that decides how it is compared. */
type Script = "latin" | "cyrillic" | "cjk" | "other";

/**
 * The version of the numbers in `METHODS`. Change it with them: scores of two versions are on two
 * scales, and must not be averaged together.
 */
export const CALIBRATION = "c1";

/** How texts of one kind are compared with the encoder inside. */
export interface SimilarityMethod {
  /** As `score_methods` names it, with the version of the calibration. */
  name: string;
  /** What is mixed with the cosine of the sentence vectors. */
  words: "stems" | "grams" | "tokens";
  /** The share of the cosine; the words have the rest. If it is 0 the encoder is not asked. */
  share: number;
  /** The mix that becomes `PASS`. */
  threshold: number;
}

/** What the mix at `threshold` becomes: the default `pass_threshold`. */
const PASS = 0.7;

/**
 * The encoder was trained on English, knows much of other European languages by their word pieces,
 * and little of other scripts: the further from English, the larger the share of the characters.
 * Each threshold lets 0 to 6 of 100 pairs pass that say different things, on pairs
 * that were not used for choosing it; `deno task bench similarity` prints the shares.
 */
export const METHODS = {
  english: { name: `minilm+stems/${CALIBRATION}`, words: "stems", share: 0.85, threshold: 0.62 },
  latin: { name: `minilm+grams/latin-${CALIBRATION}`, words: "grams", share: 0.4, threshold: 0.32 },
  cyrillic: {
    name: `minilm+grams/cyrillic-${CALIBRATION}`,
    words: "grams",
    share: 0.2,
    threshold: 0.223,
  },
  cjk: { name: `minilm+grams/cjk-${CALIBRATION}`, words: "grams", share: 0.2, threshold: 0.175 },
  other: {
    name: `minilm+grams/other-${CALIBRATION}`,
    words: "grams",
    share: 0.2,
    threshold: 0.223,
  },
  wordless: { name: `tokens/wordless-${CALIBRATION}`, words: "tokens", share: 0, threshold: PASS },
} as const satisfies Record<string, SimilarityMethod>;

/**
 * The method for a reference, from the reference and its language alone. To the encoder 42 and 43, or
 * two emoji, are nearly the same: a reference without letters is compared by its numbers.
 */
export function chooseMethod(reference: string, isEnglish: boolean): SimilarityMethod {
  if (isWordless(reference)) return METHODS.wordless;
  const script = mainScript(reference);
  return script === "latin" && isEnglish ? METHODS.english : METHODS[script];
}

const SCRIPTS: [Script, RegExp][] = [
  ["latin", /\p{Script=Latin}/gu],
  ["cyrillic", /\p{Script=Cyrillic}/gu],
  ["cjk", /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu],
];
/** Enough of a text to tell its script. */
const MAX_CHARACTERS = 2000;
/** A character of these stands for a part of a word, so that it counts as much as two letters. */
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
 * A mix in [0, 1] on the scale that all methods share: 0, the method's threshold and 1 become 0, 0.7
 * and 1, with straight lines between them. The order of two mixes stays as it is.
 */
export function calibrate(mix: number, { threshold }: SimilarityMethod): number {
  if (mix <= threshold) return PASS * mix / threshold;
  return PASS + (1 - PASS) * (mix - threshold) / (1 - threshold);
}
