import { detectLanguage } from "../language/detector.ts";
import { rememberLast } from "../background/remember_last.ts";
import { compareAntonyms } from "./differences/antonyms.ts";
import { compareQuantities } from "./differences/compare_quantities.ts";
import { chineseDenials, compareDenials, japaneseDenials } from "./differences/han_negation.ts";
import { compareIdentifiers, findIdentifiers } from "./differences/identifiers.ts";
import { guessLanguage, type Language, latinLanguage } from "./differences/language.ts";
import { compareNames, namesOf } from "./differences/names.ts";
import { compareNegation, readStatements } from "./differences/polarity.ts";
import { quantitiesOf } from "./differences/quantities.ts";
import { tokenize } from "./differences/tokens.ts";
import { asciiDigits, joinGroups } from "./digits.ts";
import { answerOf } from "./lone_answers.ts";
import { optionOf } from "./options.ts";

/** In what two texts may differ, in the order in which they are reported. */
export const DIFFERENCE_KINDS = [
  "antonym",
  "date",
  "money",
  "name",
  "negation",
  "number",
  "time",
  "unit",
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** What a text is read as if nothing tells its language. */
const DEFAULT_LANGUAGE = "en";

/** Letters tell the language of a longer text. */
const MOST_TOKENS = 12;

/** Of a longer text the beginning is read. */
const MAX_CHARACTERS = 20_000;

/** A turn's reference comes again with every attempt. */
const REMEMBERED = 256;
const LONGEST_REMEMBERED = 2000;

/**
 * In what a reply differs from its reference although it may be near in meaning: another number
 * (also of one unit), unit, sum of money, date or time of day; a negation on one side; a word and
 * its opposite; another name, address, code or option. Sorted, without duplicates; `[]` if nothing was
 * found, which proves nothing.
 *
 * Rather too few than too many: what only one text mentions is more or less detail and no
 * difference, and what is written otherwise ("12" and "twelve", "3 pm" and "15:00", "isn't closed"
 * and "is open") is the same. Numbers, dates, addresses and codes are found in any language;
 * a yes or no that begins a text in many languages; negation and words of the calendar in those of
 * `Language`; names in those of them whose capitals tell; opposites in English. Of a longer text the
 * first 20,000 characters are read.
 */
export function differencesBetween(reply: string, reference: string): DifferenceKind[] {
  if (reply === reference) return [];
  const [left, right] = readBoth(reply, reference);
  const found = compare(left, right);
  if (found.size === 0 && mayBeEnglish(left) && mayBeEnglish(right)) {
    const [one, other] = [reply, reference].map((text) => readText(text, DEFAULT_LANGUAGE));
    // Their names were compared, unless the texts are German, in which every noun is a capital.
    return [...compare(one!, other!)].filter((kind) => kind !== "name").sort();
  }
  return [...found].sort();
}

function compare(left: ReadText, right: ReadText): Set<DifferenceKind> {
  const found = new Set<DifferenceKind>(compareQuantities(left.quantities, right.quantities));
  if (
    compareIdentifiers(left.identifiers, right.identifiers) ||
    compareNames(left.names, right.names) ||
    (left.option && right.option && left.option !== right.option)
  ) {
    found.add("name");
  }
  if (left.answer && right.answer && left.answer !== right.answer) found.add("negation");
  if (left.language === right.language) {
    if (left.denials && right.denials && compareDenials(left.denials, right.denials)) {
      found.add("negation");
    }
    if (compareNegation(left.statements, right.statements)) found.add("negation");
    else if (left.language === "en" && compareAntonyms(left, right)) found.add("antonym");
  }
  return found;
}

/** "Van Gogh is expensive" seems Dutch by its letters, and has no small word that is. */
function mayBeEnglish({ language, tokens }: ReadText): boolean {
  const small = tokens.filter(({ raw, text }) => raw === text).map(({ text }) => text);
  return language !== DEFAULT_LANGUAGE && tokens.length <= MOST_TOKENS &&
    tokens.every(({ type }) => type !== "number") &&
    detectLanguage(small.join(" ")).code === "en";
}

const read = rememberLast((text) => readText(text), REMEMBERED, { longest: LONGEST_REMEMBERED });

/**
 * A text too short to tell its language is in that of the other. Two such texts, and two that are
 * much the same and seem to be in different languages, are in the language of both together.
 */
function readBoth(reply: string, reference: string): [ReadText, ReadText] {
  const both = [read(reply), read(reference)] as const;
  const [left, right] = both;
  const isTold = left.isSure && right.isSure;
  if (isTold && (left.language === right.language || !areAlike(left, right))) return [left, right];
  const sure = isTold ? undefined : both.find(({ isSure }) => isSure);
  const language = sure?.language ?? latinLanguage(`${reply}\n${reference}`);
  if (language === undefined) return [left, right];
  return [
    left.language === language ? left : readText(reply, language),
    right.language === language ? right : readText(reference, language),
  ];
}

/** Whether half of the shorter text's words stand in the other. */
function areAlike(left: ReadText, right: ReadText): boolean {
  const [fewer, more] = [left.names.words, right.names.words].sort((a, b) => a.size - b.size) as [
    Set<string>,
    Set<string>,
  ];
  return fewer.intersection(more).size >= fewer.size / 2;
}

type ReadText = ReturnType<typeof readText>;

function readText(text: string, known?: Language) {
  const plain = asciiDigits(joinGroups(text.slice(0, MAX_CHARACTERS)).normalize("NFKC"))
    .replace(/[’ʼ`]/g, "'");
  const { found: identifiers, rest } = findIdentifiers(plain);
  const tokens = tokenize(rest);
  const guess = known ?? guessLanguage(rest, tokens);
  const language = guess ?? DEFAULT_LANGUAGE;
  return {
    language,
    isSure: guess !== undefined,
    tokens,
    identifiers,
    answer: answerOf(rest),
    option: optionOf(rest),
    quantities: quantitiesOf(rest, tokens, language),
    names: namesOf(tokens, language),
    statements: readStatements(tokens, language),
    denials: language === "zh"
      ? chineseDenials(rest)
      : language === "ja"
      ? japaneseDenials(rest)
      : undefined,
  };
}
