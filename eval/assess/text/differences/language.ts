import type { Token } from "./tokens.ts";

/** The languages whose words are known here; `other` has numbers, dates and ids all the same. */
export type Language = "en" | "de" | "fr" | "es" | "ru" | "zh" | "ja" | "other";

/** Short words that are frequent in one of these languages and rare or absent in the others. */
const MARKS: [Language, string][] = [
  [
    "en",
    "the is are and to of you your it we not with for was this that have will be can't don't it's at there our please i no my he she they has by from did does how what",
  ],
  [
    "de",
    "der die das ist und nicht sie wir ich ein eine mit für auf zu im den dem kein keine haben hat es gibt sind nach um am sich uns ihre ihr bitte",
  ],
  [
    "fr",
    "le la les de est et pas vous nous je un une des avec pour dans du il elle ne n'est n'y sont votre notre c'est qui que ce se très",
  ],
  [
    "es",
    "el la los las no de es y usted nosotros yo un una con para por del en está son su sus nuestro lo qué que hay muy ya se",
  ],
];

const LANGUAGES = new Map<string, Language[]>();
for (const [language, words] of MARKS) {
  for (const word of words.split(" ")) {
    LANGUAGES.set(word, [...LANGUAGES.get(word) ?? [], language]);
  }
}

/**
 * The language of a text by its script and its short words; English if nothing tells. A guess: what
 * depends on it must be harmless if it is wrong.
 */
export function guessLanguage(tokens: readonly Token[]): Language {
  const counts: Partial<Record<Language, number>> = {};
  for (const { type, text } of tokens) {
    if (type !== "word") continue;
    const point = text.codePointAt(0)!;
    if (point >= 0x3040 && point <= 0x30ff) return "ja";
    const found = point >= 0x400 && point <= 0x52f
      ? RUSSIAN
      : point >= 0x3400
      ? CHINESE
      : undefined;
    for (const language of found ?? LANGUAGES.get(text) ?? NONE) {
      counts[language] = (counts[language] ?? 0) + 1;
    }
  }
  let best: Language | undefined;
  for (const language of ORDER) {
    if ((counts[language] ?? 0) > (best ? counts[best]! : 0)) best = language;
  }
  best ??= languageOfAnswer(tokens);
  if (best) return best;
  return tokens.every(({ text }) => text.charCodeAt(0) < 0x250) ? "en" : "other";
}

/** Words that are a whole answer; "non-refundable" is none. */
const ANSWERS = new Map<string, Language>([
  ["ja", "de"],
  ["nein", "de"],
  ["oui", "fr"],
  ["non", "fr"],
]);

function languageOfAnswer([first, next]: readonly Token[]): Language | undefined {
  const isAlone = !next || (next.type === "sign" && next.raw !== "-");
  return first && isAlone ? ANSWERS.get(first.text) : undefined;
}

const RUSSIAN: Language[] = ["ru"];
const CHINESE: Language[] = ["zh"];
const NONE: Language[] = [];
const ORDER: Language[] = ["zh", "ru", "en", "de", "fr", "es"];
