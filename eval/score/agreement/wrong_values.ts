import { isSameValue, plainNumbers, readValues, type Value } from "../text/values.ts";

interface WrongValue {
  /** `number`, `date`, `time`, `code`, `money`, the kind of a unit, `name` or `exchanged`. */
  kind: string;
  /** For people. */
  text: string;
}

const MOST = 5;
/** Only this much of a longer text is read. */
const MAX_CHARACTERS = 20_000;

/**
 * Describes the values in a reply that replace values of its reference. A value is wrong if it is
 * not in the reference, and the reply lacks one of the same kind that is. A reply that only omits
 * or adds a value has no wrong value.
 */
export function findWrongValues(reply: string, reference: string): WrongValue[] {
  const [expected, found] = [reference, reply].map((text) =>
    readValues(plain(text)).flatMap((value) => value.ends ?? value)
  ) as [Value[], Value[]];
  const lacking = (values: Value[], others: Value[]) =>
    values.filter((value) => !isVague(value) && !others.some((other) => isSameValue(value, other)));
  const others = lacking(found, expected);
  const wrong: WrongValue[] = [];
  for (const value of lacking(expected, found)) {
    const at = others.findIndex(({ kind }) => kind === value.kind);
    if (at < 0) continue;
    const [other] = others.splice(at, 1);
    const text = `${other!.text.trim()} instead of ${value.text.trim()}`;
    wrong.push({ kind: value.kind.split(" ")[0]!, text });
  }
  return wrong.slice(0, MOST);
}

/** "the blue one" */
function isVague({ isSpelled, digits }: Value): boolean {
  return isSpelled === true && digits === "1";
}

function plain(text: string): string {
  return plainNumbers(text.slice(0, MAX_CHARACTERS));
}

/**
 * Rewrites values of the reply that equal one of the reference as the reference spells them: the
 * model considers 1,500 m and 1.5 km to be different lengths.
 */
export function writeValuesAlike(reply: string, reference: string): string {
  const expected = readValues(plain(reference));
  if (expected.length === 0) return reply;
  const text = plainNumbers(reply);
  let result = "";
  let done = 0;
  for (const value of readValues(text.slice(0, MAX_CHARACTERS))) {
    const own = expected.find((other) => other.kind === value.kind && isSameValue(value, other));
    if (!own || own.text === value.text) continue;
    result += text.slice(done, value.start) + own.text;
    done = value.end;
  }
  return result + text.slice(done);
}

/** Words and signs around which the two sides may be swapped without changing the meaning. */
const SYMMETRIC = new Set(
  (", ; : and or nor but while whereas plus equals is are was were be isn't aren't not with married " +
    "met said").split(" "),
);
const ARTICLES = new Set(["the", "a", "an"]);
const TOKEN = /[\p{L}\p{N}](?:[\p{L}\p{N}'’.:,-]*[\p{L}\p{N}])?|[,;:]/gu;
const SEVERAL_SENTENCES = /[.!?]\s+\S/;
/** In words and signs. In longer texts the order of clauses may differ. */
const MOST_TOKENS = 60;
/** Matching words in a text of millions of characters overflows the stack. */
const LONGEST_SENTENCE = 2000;

/**
 * Finds swapped parts of an English sentence: "Cats chase mice" and "Mice chase cats". The model
 * pays little attention to word order and considers these the same. Parts of lists, clauses around
 * an "and", and phrases that begin alike ("in May in Rome") may be swapped.
 */
export function findExchanged(reply: string, reference: string): WrongValue[] {
  if (Math.max(reply.length, reference.length) > LONGEST_SENTENCE) return [];
  if (SEVERAL_SENTENCES.test(reply.trim()) || SEVERAL_SENTENCES.test(reference.trim())) return [];
  const [own, expected] = [reply, reference].map((text) => text.toLowerCase().match(TOKEN) ?? []);
  const length = own!.length;
  if (length !== expected!.length || length > MOST_TOKENS) return [];
  let start = 0;
  while (start < length && own![start] === expected![start]) start++;
  let end = length;
  while (end > start && own![end - 1] === expected![end - 1]) end--;
  const [now, before] = [own!.slice(start, end).join(" "), expected!.slice(start, end)];
  for (let first = 1; first < before.length - 1; first++) {
    for (let second = first + 1; second < before.length; second++) {
      const [a, middle, b] = [
        before.slice(0, first),
        before.slice(first, second),
        before.slice(second),
      ];
      if ([...b, ...middle, ...a].join(" ") !== now) continue;
      if (mayChangePlaces(middle, expected!.slice(0, start))) return [];
      return [{ kind: "exchanged", text: `${b.join(" ")} and ${a.join(" ")} exchanged` }];
    }
  }
  return [];
}

function mayChangePlaces(middle: string[], prefix: string[]): boolean {
  const words = middle.filter((word) => !ARTICLES.has(word));
  const isList = [",", "and", "or", "nor"].includes(middle[0]!) && !middle.includes("then");
  const isPhrase = prefix.slice(-middle.length).join(" ") === middle.join(" ");
  return isList || isPhrase || words.every((word) => SYMMETRIC.has(word));
}

/** A run of katakana is a token, and so is each other character of a script without blanks. */
const NAME_TOKEN =
  /[\p{sc=Kana}ー・]+|[\p{sc=Han}\p{sc=Hira}]|(?:(?![\p{sc=Kana}ー\p{sc=Han}\p{sc=Hira}])[\p{L}\p{M}\p{N}'’-])+/gu;
/** Not after "Dr." and the like. */
const BETWEEN_SENTENCES = /(?<=[^\s.]{4}[.!?…]|[。！？\n])\s*/u;
const NAME = /^(?:(?=.*\p{Lu})\P{Nd}+|[\p{sc=Kana}ー・]{2,})$/u;
const KATAKANA = /^\p{sc=Kana}/u;
/** Words of German, in which any noun has a capital letter. */
const GERMAN =
  /(?<!\p{L})(?:der|das|dem|und|ist|sind|wird|werden|wir|nicht|für|auf|mit|bei|zum|zur|eine[mnrs]?|gibt|haben)(?!\p{L})/u;
const MOST_SENTENCES = 20;
const MOST_NAMES = 3;
const LEAST_FRAME = 2;

/**
 * Finds names in place of others, in sentences that are the same otherwise: "The bus goes to Lyon"
 * and "The bus goes to Dijon", which the model takes for the same. A name is what has a capital
 * letter within a sentence, or is in katakana.
 */
export function findOtherNames(reply: string, reference: string): WrongValue[] {
  if (GERMAN.test(reference.slice(0, MAX_CHARACTERS))) return [];
  const found = sentencesOf(reply);
  return sentencesOf(reference).flatMap((sentence) => {
    const others = found.map((other) => otherName(other, sentence));
    return others.includes(undefined) ? [] : others.find((other) => other !== null) ?? [];
  });
}

/** Each as its tokens. */
function sentencesOf(text: string): string[][] {
  const sentences = text.slice(0, MAX_CHARACTERS).normalize("NFKC").split(BETWEEN_SENTENCES);
  return sentences.slice(0, MOST_SENTENCES).map((sentence) => sentence.match(NAME_TOKEN) ?? []);
}

/** `undefined` if the sentences are the same, `null` if they differ in more than a name. */
function otherName(own: string[], expected: string[]): WrongValue | null | undefined {
  const isSame = (a: string | undefined, b: string | undefined) =>
    a?.toLowerCase() === b?.toLowerCase();
  let start = 0;
  while (start < own.length && isSame(own[start], expected[start])) start++;
  let end = 0;
  const shorter = Math.min(own.length, expected.length) - start;
  while (end < shorter && isSame(own.at(-1 - end), expected.at(-1 - end))) end++;
  const [name, wanted] = [own, expected].map((words) => words.slice(start, words.length - end)) as [
    string[],
    string[],
  ];
  if (name.length === 0 && wanted.length === 0) return undefined;
  const isNamed = [name, wanted].every((words) =>
    words.length > 0 && words.length <= MOST_NAMES && words.every((word) => NAME.test(word))
  );
  const isFirst = start === 0 && !KATAKANA.test(wanted[0] ?? "");
  if (!isNamed || isFirst || start + end < LEAST_FRAME) return null;
  const [one, other] = [name.join(" "), wanted.join(" ")];
  return isSpelling(one, other) ? undefined : { kind: "name", text: `${one} instead of ${other}` };
}

/** Whether a name is another spelling of one: "Jan" and "January", "UK" and "United Kingdom". */
function isSpelling(one: string, other: string): boolean {
  const [short, long] = [one, other].map((name) =>
    name.normalize("NFD").replace(/[\p{M} ]/gu, "").toLowerCase()
  ).sort((a, b) => a.length - b.length) as [string, string];
  const least = KATAKANA.test(short) ? 2 : 3;
  if (long.includes(short) || long.slice(0, least) === short.slice(0, least)) return true;
  let at = -1;
  return short[0] === long[0] && short.length <= 4 &&
    [...short].every((letter) => (at = long.indexOf(letter, at + 1)) >= 0);
}
