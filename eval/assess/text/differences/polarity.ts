import { stem } from "../stems.ts";
import { GRAMMARS } from "./grammar.ts";
import type { Language } from "./language.ts";
import type { Token } from "./tokens.ts";

/**
 * How a word is said: `negated` (what a negation is about), `affirmed` (in a clause without one),
 * `open` (a question, a condition, an exception, beside a negation), or in `several` of these ways.
 */
export type Polarity = "negated" | "affirmed" | "open" | "several";

/** What a text says of its content words. */
export interface Statements {
  /** By stem. */
  polarities: Map<string, Polarity>;
  /** By the stem of a negated word: that of the content word after it in its clause. */
  complements: Map<string, string>;
  /** The particle that the text begins with. */
  answer: "yes" | "no" | undefined;
}

const SENTENCE_END = /[.!?\n]/;
const CLAUSE_END = /[,;:()–—]/;
/** How far the word may stand that a negation is about. */
const REACH = 6;
const STEM_LENGTH = 5;
/** "Does not cost more than 20" denies that it is more, not that it costs. */
const MORE_THAN: Partial<Record<Language, RegExp>> = {
  en: / more than$/,
  fr: / plus (?:de|d|que)$/,
  es: / más de$/,
  it: / più (?:di|del)$/,
  pt: / mais (?:de|do)$/,
  nl: / meer dan$/,
  sv: / (?:mer|mere) (?:än|end|enn)$/,
  pl: / więcej niż$/,
};
const REACH_OF_MORE = 3;

/** Reads the polarity of a text's words, in a language with words between blanks. */
export function readStatements(tokens: readonly Token[], language: Language): Statements {
  const grammar = GRAMMARS[language];
  const polarities = new Map<string, Polarity>();
  const complements = new Map<string, string>();
  if (!grammar) return { polarities, complements, answer: undefined };
  const stemOf = (word: string) => stemIn(word, language);
  // "More than" is no "more", which has an opposite.
  const keyOf = (words: string[], at: number) =>
    isMoreThan(words, at, language) ? `${words[at]} ${words[at + 1]}` : stemOf(words[at]!);
  const note = (key: string, polarity: Polarity) => {
    const known = polarities.get(key);
    polarities.set(key, known === undefined || known === polarity ? polarity : "several");
  };

  let answer: Statements["answer"];
  for (const { clauses, isOpen } of sentencesOf(tokens, language)) {
    const negations = clauses.map((words) => negationsIn(words, language));
    const [first] = clauses[0] ?? [];
    const isParticle = first !== undefined && clauses[0]!.length === 1;
    if (isParticle && grammar.no.has(first)) {
      answer ??= "no";
      negations[0] = [];
    } else if (isParticle && grammar.yes.has(first)) answer ??= "yes";
    const total = negations.reduce((sum, found) => sum + found.length, 0);
    for (const [index, words] of clauses.entries()) {
      const isUnsure = isOpen || total > 1;
      const [negation] = negations[index]!;
      const head = isUnsure || negation === undefined ? -1 : headOf(words, negation, language);
      const polarity = isUnsure || negations[index]!.length > 0 ? "open" : "affirmed";
      for (let at = 0; at < words.length; at++) {
        const word = words[at]!;
        if (grammar.isNegator(word)) continue;
        const isSaid = isPlace(words, at, language) || isMoreThan(words, at, language);
        if (grammar.stops.has(word) && !isSaid) continue;
        note(keyOf(words, at), at === head ? "negated" : polarity);
      }
      const complement = head < 0 ? undefined : words.slice(head + 1, head + 1 + REACH)
        .find((word) => !grammar.stops.has(word) && !grammar.isNegator(word));
      if (complement !== undefined) complements.set(keyOf(words, head), stemOf(complement));
    }
  }
  return { polarities, complements, answer };
}

/** Past forms that no stemmer knows. "Left" is not here: it is a side, too. */
const IRREGULAR = new Map(
  ("found find,sent send,paid pay,bought buy,sold sell,gave give,given give,took take,taken take," +
    "came come,saw see,seen see,kept keep,told tell,said say,knew know,wrote write," +
    "written write,broke break,broken break,chose choose,chosen choose,ate eat,eaten eat," +
    "felt feel,held hold,heard hear,met meet,ran run,shown show,spoke speak,spoken speak," +
    "spent spend,stood stand,thought think,understood understand,wore wear,built build," +
    "brought bring,caught catch,taught teach,grew grow,grown grow,went go,gone go,made make," +
    "began begin,begun begin,forgot forget,forgotten forget,won win,lost lose,fell fall," +
    "fallen fall,rose rise,risen rise,drove drive,driven drive,slept sleep,stole steal," +
    "stolen steal,hid hide,hidden hide,froze freeze,frozen freeze,meant mean,read read")
    .split(",").map((pair) => pair.split(" ") as [string, string]),
);

/** "Kostenlos" is the opposite of "kostet", not a form of it. */
const PRIVATIVE = /^(.{3,}los)(?:e[mnrs]?)?$/;

/** A word in the form by which words are compared. */
export function stemIn(word: string, language: Language): string {
  const privative = language === "de" ? PRIVATIVE.exec(word)?.[1] : undefined;
  if (language !== "en") return privative ?? word.slice(0, STEM_LENGTH);
  const apostrophe = word.indexOf("'");
  const plain = apostrophe < 0 ? word : word.slice(0, apostrophe);
  return stem(IRREGULAR.get(plain) ?? plain);
}

/**
 * Whether what one text denies is what the other affirms, or one begins with yes and the other with
 * no. "Does not take long" says nothing of "takes": what the negated word goes with must be there.
 */
export function compareNegation(left: Statements, right: Statements): boolean {
  if (left.answer && right.answer && left.answer !== right.answer) return true;
  const denies = (one: Statements, other: Statements) => {
    for (const [word, polarity] of one.polarities) {
      if (polarity !== "negated" || other.polarities.get(word) !== "affirmed") continue;
      const complement = one.complements.get(word);
      if (complement === undefined || other.polarities.has(complement)) return true;
    }
    return false;
  };
  return denies(left, right) || denies(right, left);
}

interface Sentence {
  clauses: string[][];
  isOpen: boolean;
}

function sentencesOf(tokens: readonly Token[], language: Language): Sentence[] {
  const grammar = GRAMMARS[language]!;
  const sentences: Sentence[] = [];
  let sentence: Sentence = { clauses: [[]], isOpen: false };
  const endSentence = () => {
    if (sentence.clauses.some((words) => words.length > 0)) sentences.push(sentence);
    sentence = { clauses: [[]], isOpen: false };
  };
  for (const { type, raw, text } of tokens) {
    if (type === "sign") {
      if (raw === "?") sentence.isOpen = true;
      if (SENTENCE_END.test(raw)) endSentence();
      else if (CLAUSE_END.test(raw)) sentence.clauses.push([]);
      continue;
    }
    if (grammar.openers.has(text)) sentence.isOpen = true;
    if (grammar.breaks.has(text)) sentence.clauses.push([]);
    else if (grammar.split) sentence.clauses.at(-1)!.push(...grammar.split(text));
    else sentence.clauses.at(-1)!.push(text);
  }
  endSentence();
  for (const one of sentences) one.clauses = one.clauses.filter((words) => words.length > 0);
  return sentences;
}

/** The places of a clause's negations. */
function negationsIn(words: string[], language: Language): number[] {
  const grammar = GRAMMARS[language]!;
  const places: number[] = [];
  for (let at = 0; at < words.length; at++) {
    if (grammar.isNegator(words[at]!) && !grammar.isIdiom(words, at)) places.push(at);
  }
  // "ne … pas", "никогда не": one negation in several words.
  const main = places.filter((at) => grammar.main?.has(words[at]!));
  return main.length > 0 ? main : places;
}

/** The place of the word that a negation is about; -1 for none. */
function headOf(words: string[], at: number, language: Language): number {
  const grammar = GRAMMARS[language]!;
  const isContent = (word: string) =>
    !grammar.stops.has(word) && !grammar.light.has(word) && !grammar.isNegator(word);
  for (let next = at + 1; next <= at + REACH_OF_MORE; next++) {
    // "N'a plus de" is "has no more".
    const isLess = language !== "fr" || words[next - 1] === "pas";
    if (isLess && isMoreThan(words, next, language)) return next;
  }
  for (let next = at + 1; next < words.length && next <= at + REACH; next++) {
    if (isContent(words[next]!)) return next;
  }
  if (grammar.isPlacedAfter) {
    for (let before = at - 1; before >= 0; before--) if (isContent(words[before]!)) return before;
  }
  return isPlace(words, at + 1, language) ? at + 1 : -1;
}

/** Whether a word without content is all that its clause says of something: "is not here yet". */
function isPlace(words: string[], at: number, language: Language): boolean {
  const { places, isNegator } = GRAMMARS[language]!;
  if (!places?.words.has(words[at] ?? "")) return false;
  const last = words[at - 1] ?? "";
  return (places.after.has(last) || isNegator(last)) &&
    words.slice(at + 1).every((word) => places.before.has(word));
}

function isMoreThan(words: string[], at: number, language: Language): boolean {
  return MORE_THAN[language]?.test(words.slice(Math.max(0, at - 1), at + 2).join(" ")) === true;
}
