import { calendarOf } from "./calendar.ts";
import type { Language } from "./language.ts";
import type { Token } from "./tokens.ts";
import { currencyOf, unitOf } from "./units.ts";

/** Proper names of a text, each as its words in lower case, and all of the text's words. */
export interface Names {
  names: string[][];
  words: Set<string>;
}

/** Capitals that are no names: of a product's surface, of titles, and frequent abbreviations. */
const COMMON = new Set(
  ("i i'm i'll i've i'd ok okay yes no hi hello dear thanks please sorry note " +
    "account settings help center centre support team service customer order orders menu home " +
    "page button save cancel sign log login submit next back profile privacy policy terms " +
    "conditions department office store shop app website web internet online manager director " +
    "mr mrs ms dr prof sir madam god " +
    "faq id pdf url api am pm tv usb asap fyi pin sms vip diy hr it ui qr atm pc vat gps ceo cfo " +
    "cto led wifi html json http https a.m p.m moon sun earth").split(" "),
);

/** The same in languages other than English, which has a Sue. */
const COMMON_ELSEWHERE = new Set(
  ("lei suo sua suoi sue pan pani pana panu państwo państwa sr sra senhor senhora u uw " +
    "dem deres kunde")
    .split(" "),
);

/** Units that are names of people and places, too. */
const LIKE_NAMES = new Set(
  ("ora ore dia dias dag dage dager dagen dni uge uger uke uker hafta mese mesi anno anni ano anos " +
    "jaar rok lata lat timer weken maand uren")
    .split(" "),
);

/** Words that several names share: they do not make two names one. */
const WEAK = new Set(
  ("new san saint st north south east west los las mount lake river united university bank " +
    "street avenue road king queen president sir city the of and de la le el van von corp inc ltd")
    .split(" "),
);

const ALIASES = new Map([
  ["us", "united states"],
  ["usa", "united states"],
  ["u.s", "united states"],
  ["america", "united states"],
  ["uk", "united kingdom"],
  ["britain", "united kingdom"],
  ["eu", "european union"],
  ["nyc", "new york"],
  ["uae", "united arab emirates"],
]);

/** German capitalises every noun, and other scripts have no capitals: there are no names there. */
const WITH_NAMES = new Set<Language>(["en", "fr", "es", "it", "pt", "nl", "sv", "pl", "ru"]);
const MAX_NAMES = 200;
const SHORTEST_PREFIX = 5;

/** The proper names of a text: capitalised words that do not begin a sentence. */
export function namesOf(tokens: readonly Token[], language: Language): Names {
  const words = new Set<string>();
  const names: string[][] = [];
  let capitals = 0;
  let total = 0;
  let run: { parts: string[]; isOpening: boolean } | undefined;
  const close = () => {
    // A capitalised word that begins a sentence says nothing, unless others follow it.
    if (run && (!run.isOpening || run.parts.length > 1)) names.push(run.parts);
    run = undefined;
  };
  let isOpening = true;
  for (const token of tokens) {
    if (token.type !== "word") {
      if (token.raw !== "'" && token.raw !== "-") close();
      if (/[.!?:;"“„(\n•*]/.test(token.raw)) isOpening = true;
      continue;
    }
    const word = token.text.endsWith("'s") ? token.text.slice(0, -2) : token.text;
    words.add(word);
    total++;
    const isCapital = token.raw[0] !== token.text[0];
    if (isCapital) capitals++;
    if (isCapital && word.length > 1 && !isCommon(word, language)) {
      if (run) run.parts.push(word);
      else run = { parts: [word], isOpening };
    } else close();
    isOpening = false;
  }
  close();
  const isShouted = total > 3 && capitals > total * 0.6;
  const isUseful = WITH_NAMES.has(language) && !isShouted;
  return { names: isUseful ? names.slice(0, MAX_NAMES) : [], words };
}

function isCommon(word: string, language: Language): boolean {
  return COMMON.has(word) || (language !== "en" && COMMON_ELSEWHERE.has(word)) ||
    calendarOf(language)?.has(word) === true || currencyOf(word) !== undefined ||
    (unitOf(word) !== undefined && !LIKE_NAMES.has(word));
}

/** Whether each text has a name that the other does not mention in any form known here. */
export function compareNames(left: Names, right: Names): boolean {
  if (left.names.length === 0 || right.names.length === 0) return false;
  return left.names.some((name) => !isMentioned(name, right)) &&
    right.names.some((name) => !isMentioned(name, left));
}

function isMentioned(name: string[], { names, words }: Names): boolean {
  const whole = ALIASES.get(name.join(" ")) ?? name.join(" ");
  const initials = name.map((part) => part[0]).join("");
  if (names.some((other) => (ALIASES.get(other.join(" ")) ?? other.join(" ")) === whole)) {
    return true;
  }
  if (name.length > 1 && words.has(initials)) return true;
  if (names.some((other) => other.length > 1 && other.map((part) => part[0]).join("") === whole)) {
    return true;
  }
  if (whole.split(" ").every((part) => words.has(part))) return true;
  return name.some((part) => !WEAK.has(part) && hasForm(part, words));
}

/** "Germany" and "German" are one name. */
function hasForm(part: string, words: Set<string>): boolean {
  if (words.has(part) || words.has(`${part}s`)) return true;
  if (part.length < SHORTEST_PREFIX) return false;
  const prefix = part.slice(0, SHORTEST_PREFIX);
  for (const word of words) if (word.startsWith(prefix)) return true;
  return false;
}
