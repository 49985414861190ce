import { functionWords } from "./function_words.ts";

/** What a text is written in. */
export interface DetectedLanguage {
  /** `en`, `other`, or `null` if there is nothing to tell by. */
  code: "en" | "other" | null;
  /** Whether the text is long and clear enough to go by. One word rarely is. */
  isReliable: boolean;
}

export interface LanguageDetector extends Disposable {
  detect(text: string): Promise<DetectedLanguage>;
}

/** More of a text tells no more about its language. */
const MAX_CHARACTERS = 4000;
/** By how much English has to outweigh the rest. */
const ENGLISH_MARGIN = 2;
/** And the rest English: one word of another language may be a name. */
const OTHER_MARGIN = 3;
/** `don't` is one word. */
const WORD = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;
const NOT_LATIN = /(?!\p{Script=Latin})\p{L}/u;
const NOT_ASCII = /[^\0-\x7f]/;

/**
 * Tells English from everything else, by the words that every sentence needs: English ones against
 * those of two dozen other languages, words with letters that English lacks, and other scripts.
 * Words that English shares with another language count half, for the side that has them more often.
 */
export function detectLanguage(text: string): DetectedLanguage {
  let english = 0;
  let other = 0;
  const words = text.slice(0, MAX_CHARACTERS).match(WORD) ?? [];
  if (words.length === 0) return { code: null, isReliable: false };
  // "I" is English. So is "i" where a text begins; elsewhere it may be Italian, Polish or Swedish.
  for (const [index, word] of words.entries()) {
    const kind = word === "i" && index > 0 ? "shared" : functionWords.get(word.toLowerCase());
    if (kind === "english") english += 2;
    else if (kind === "shared") english += 1;
    else if (kind === "doubtful") other += 1;
    else if (kind === "other") other += 2;
    else if (NOT_LATIN.test(word)) other += 4;
    else if (NOT_ASCII.test(word)) other += 1;
  }
  const isOther = other > english || (other === english && other > 1);
  return {
    code: isOther ? "other" : "en",
    isReliable: isOther ? other - english >= OTHER_MARGIN : english - other >= ENGLISH_MARGIN,
  };
}

export function createLanguageDetector(): LanguageDetector {
  return {
    detect: (text) => Promise.resolve(detectLanguage(text)),
    [Symbol.dispose]() {},
  };
}
