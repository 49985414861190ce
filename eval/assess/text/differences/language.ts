import { detectLanguage } from "../../language/detector.ts";
import { identifyLanguage } from "../../language/identify_language.ts";
import type { Token } from "./tokens.ts";

const LATIN = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl"] as const;
type LatinLanguage = (typeof LATIN)[number];

/** Languages that are read as another: their small words are much the same. */
const READ_AS: Record<string, LatinLanguage> = { da: "sv", no: "sv" };

/** The languages whose words are known here; `other` has numbers, dates and ids all the same. */
export type Language = LatinLanguage | "ru" | "zh" | "ja" | "other";

/** For their letters "a dozen" is Dutch and "forty-six" is French. */
const FEWEST_WORDS = 3;
/** A Russian or Chinese text may have as many words of code as its own, and any number of names. */
const LATIN_WEIGHT = 0.5;
/** What comes after the Latin letters. */
const LATIN_END = 0x250;

/**
 * The language of a text by its script, and by its letters if they are Latin; `undefined` if it is
 * too short to tell, or in a language that is not known here. A guess: what depends on it must be
 * harmless if it is wrong.
 */
export function guessLanguage(text: string, tokens: readonly Token[]): Language | undefined {
  const counts = { zh: 0, ru: 0, other: 0 };
  let latin = 0;
  let capitals = 0;
  for (const { type, raw, text: word } of tokens) {
    if (type !== "word") continue;
    const point = word.codePointAt(0)!;
    if (point >= 0x3040 && point <= 0x30ff) return "ja";
    if (point < LATIN_END) {
      latin++;
      if (raw !== word) capitals++;
    } else if (point >= 0x3400) counts.zh++;
    else if (point >= 0x400 && point <= 0x52f) counts.ru++;
    else counts.other++;
  }
  const most = Math.max(...Object.values(counts));
  const isNames = latin === capitals && most > counts.other && detectLanguage(text).code !== "en";
  if (most === 0 || (most < latin * LATIN_WEIGHT && !isNames)) {
    return latin < FEWEST_WORDS ? undefined : latinLanguage(text);
  }
  return counts.zh === most ? "zh" : counts.ru === most ? "ru" : "other";
}

/** The language of a text in Latin letters; small English words tell more than the letters of names. */
export function latinLanguage(text: string): Language | undefined {
  const detected = detectLanguage(text);
  if (detected.code === "en" && detected.isReliable) return "en";
  const { code, isReliable } = identifyLanguage(text);
  return isReliable ? READ_AS[code] ?? LATIN.find((known) => known === code) : undefined;
}
