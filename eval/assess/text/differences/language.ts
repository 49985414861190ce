import { identifyLanguage } from "../../language/identify_language.ts";
import type { Token } from "./tokens.ts";

const LATIN = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl"] as const;
type LatinLanguage = (typeof LATIN)[number];

/** The languages whose words are known here; `other` has numbers, dates and ids all the same. */
export type Language = LatinLanguage | "ru" | "zh" | "ja" | "other";

/** Which language a text is read as. */
export interface LanguageGuess {
  language: Language;
  /** Whether it is long enough to go by. A few words may look like those of another language. */
  isSure: boolean;
}

/** A text with fewer Latin words than this may be taken for one in another language. */
const ENOUGH_WORDS = 7;
/** A Russian or Chinese text may have as many names of products, and words of code, as its own. */
const LATIN_WEIGHT = 0.5;
/** What comes after the Latin letters. */
const LATIN_END = 0x250;

/**
 * The language of a text by its script, and by its letters if they are Latin; English if nothing
 * tells. A guess: what depends on it must be harmless if it is wrong.
 */
export function guessLanguage(text: string, tokens: readonly Token[]): LanguageGuess {
  const counts = { zh: 0, ru: 0, other: 0 };
  let latin = 0;
  for (const { type, text: word } of tokens) {
    if (type !== "word") continue;
    const point = word.codePointAt(0)!;
    if (point >= 0x3040 && point <= 0x30ff) return { language: "ja", isSure: true };
    if (point < LATIN_END) latin++;
    else if (point >= 0x3400) counts.zh++;
    else if (point >= 0x400 && point <= 0x52f) counts.ru++;
    else counts.other++;
  }
  const most = Math.max(...Object.values(counts));
  if (most === 0 || most < latin * LATIN_WEIGHT) {
    return { language: latinLanguage(text), isSure: latin >= ENOUGH_WORDS };
  }
  const language = counts.zh === most ? "zh" : counts.ru === most ? "ru" : "other";
  return { language, isSure: true };
}

/** The language of a text in Latin letters. */
export function latinLanguage(text: string): Language {
  const { code, isReliable } = identifyLanguage(text);
  return (isReliable && LATIN.find((known) => known === code)) || "en";
}
