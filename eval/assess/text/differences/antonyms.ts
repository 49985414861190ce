import { ANTONYM_PAIRS } from "./antonym_pairs.ts";
import { type Polarity, type Statements, stemIn } from "./polarity.ts";
import type { Token } from "./tokens.ts";

let opposites: Map<string, Set<string>> | undefined;

/** By stem: the stems of its opposites. */
function readOpposites(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (one: string, other: string) => {
    if (one !== other) found.set(one, (found.get(one) ?? new Set()).add(other));
  };
  for (const pair of ANTONYM_PAIRS.trim().split("\n")) {
    const [one, other] = pair.split(" ").map((word) => stemIn(word, "en")) as [string, string];
    add(one, other);
    add(other, one);
  }
  return found;
}

/** In texts with more content words than this, a share of them must be the same. */
const FEW_WORDS = 3;
const LIKENESS = 0.3;
/** Words that begin with the same letters, this many, are of one family. */
const FAMILY = 5;

/** Small words that are opposites only where all else is the same. */
const PARTICLES = [
  ["on", "off"],
  ["in", "out"],
  ["up", "down"],
  ["with", "without"],
] as const;

/** What makes a word its opposite: `paid` and `unpaid`. "Unless" is no opposite of "less". */
const PREFIXED = /^(?:un|non)(?!less$)(.{4,})$/;

/** A text as far as its words go. */
interface ReadText {
  statements: Statements;
  tokens: readonly Token[];
}

/**
 * Whether one English text has a word and the other its opposite, said in the same way: "is open"
 * and "is closed", but not "is open" and "is not closed".
 */
export function compareAntonyms(left: ReadText, right: ReadText): boolean {
  const [ones, others] = [left.statements.polarities, right.statements.polarities];
  const shared = countShared(ones, others);
  const smaller = Math.min(ones.size, others.size);
  if (smaller > FEW_WORDS && shared < smaller * LIKENESS) return false; // of different things
  opposites ??= readOpposites();
  for (const [word, polarity] of ones) {
    if (polarity === "several" || others.has(word)) continue;
    for (const opposite of opposites.get(word) ?? []) {
      if (others.get(opposite) !== polarity || ones.has(opposite)) continue;
      if (!hasRelative(word, others) && !hasRelative(opposite, ones)) return true;
    }
  }
  return differInPrefix(left, right) || differInPrefix(right, left) ||
    differInParticle(left, right);
}

/**
 * Whether one text has a word with a prefix that denies it, and the other the word without, and both
 * say the same besides: not "nonsmoking" and "non-smoking".
 */
function differInPrefix({ statements: one, tokens }: ReadText, { statements: other }: ReadText) {
  return tokens.some(({ text }) => {
    const plain = PREFIXED.exec(text)?.[1];
    if (plain === undefined) return false;
    const [word, opposite] = [stemIn(text, "en"), stemIn(plain, "en")];
    const polarity = other.polarities.get(opposite);
    return polarity !== undefined && polarity !== "several" &&
      one.polarities.get(word) === polarity &&
      !one.polarities.has(opposite) && !other.polarities.has(word) &&
      isSaidAlike([one.polarities, other.polarities], [word, opposite]);
  });
}

/** Whether a word of the same family is there: "departure" beside "depart". */
function hasRelative(word: string, words: Map<string, unknown>): boolean {
  if (word.length < FAMILY) return false;
  const beginning = word.slice(0, FAMILY);
  for (const other of words.keys()) if (other.startsWith(beginning)) return true;
  return false;
}

function countShared(ones: Map<string, unknown>, others: Map<string, unknown>): number {
  let shared = 0;
  for (const word of ones.keys()) if (others.has(word)) shared++;
  return shared;
}

/** Whether both texts have the same content words, said in the same way, but for some. */
function isSaidAlike(
  [ones, others]: [Map<string, Polarity>, Map<string, Polarity>],
  besides: readonly string[],
): boolean {
  const counted = (words: Map<string, Polarity>) =>
    [...words].filter(([word]) => !besides.includes(word));
  const [left, right] = [counted(ones), counted(others)];
  return left.length === right.length &&
    left.every(([word, polarity]) => others.get(word) === polarity);
}

function differInParticle(left: ReadText, right: ReadText): boolean {
  const [ones, others] = [left, right].map(({ tokens }) =>
    new Set(tokens.map(({ text }) => text))
  ) as [Set<string>, Set<string>];
  return PARTICLES.some((pair) => {
    const isApart = ([one, other]: readonly [string, string]) =>
      ones.has(one) && !ones.has(other) && others.has(other) && !others.has(one);
    if (!isApart(pair) && !isApart([pair[1], pair[0]])) return false;
    const words = pair.map((word) => stemIn(word, "en"));
    return isSaidAlike([left.statements.polarities, right.statements.polarities], words);
  });
}
