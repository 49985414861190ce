import type { WrongValue } from "./wrong_values.ts";

/** Words and signs around which the two sides may be swapped without changing the meaning. */
const SYMMETRIC = new Set(
  (", ; : and or nor but while whereas plus equals is are was were be isn't aren't not with married " +
    "met said").split(" "),
);
const ARTICLES = new Set(["the", "a", "an"]);
const TOKEN = /[\p{L}\p{N}](?:[\p{L}\p{N}'’.:,-]*[\p{L}\p{N}])?|[,;:]/gu;
const SEVERAL_SENTENCES = /[.!?]\s+\S/;
/** In words and signs. In longer texts the order of clauses may differ. */
const LONGEST = 60;
/** Matching words in a text of millions of characters overflows the stack. */
const LONGEST_CHARACTERS = 2000;

/**
 * Finds swapped parts of an English sentence: "Cats chase mice" and "Mice chase cats". The model
 * pays little attention to word order and considers these the same. Parts of lists, clauses around
 * an "and", and phrases that begin alike ("in May in Rome") may be swapped.
 */
export function findExchanged(reply: string, reference: string): WrongValue[] {
  if (Math.max(reply.length, reference.length) > LONGEST_CHARACTERS) return [];
  if (SEVERAL_SENTENCES.test(reply.trim()) || SEVERAL_SENTENCES.test(reference.trim())) return [];
  const [own, expected] = [reply, reference].map((text) => text.toLowerCase().match(TOKEN) ?? []);
  const length = own!.length;
  if (length !== expected!.length || length > LONGEST) return [];
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
