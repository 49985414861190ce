import { isSameValue, plainNumbers, readValues, type Value } from "../text/values.ts";

interface WrongValue {
  /** `number`, `date`, `time`, `code`, `money`, the kind of a unit, or `exchanged`. */
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
  return done === 0 ? reply : result + text.slice(done);
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
