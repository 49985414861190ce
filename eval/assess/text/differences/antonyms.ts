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
const PARTICLES = [["on", "off"], ["in", "out"], ["up", "down"], ["with", "without"]] as const;

/**
 * Whether one English text has a word and the other its opposite, said in the same way: "is open"
 * and "is closed", but not "is open" and "is not closed".
 */
export function compareAntonyms(
  left: { statements: Statements; tokens: readonly Token[] },
  right: { statements: Statements; tokens: readonly Token[] },
): boolean {
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
  return isSaidAlike(ones, others) && differInParticle(left.tokens, right.tokens);
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

/** Whether both texts have the same content words, said in the same way. */
function isSaidAlike(ones: Map<string, Polarity>, others: Map<string, Polarity>): boolean {
  if (ones.size !== others.size) return false;
  for (const [word, polarity] of ones) if (others.get(word) !== polarity) return false;
  return true;
}

function differInParticle(left: readonly Token[], right: readonly Token[]): boolean {
  const [ones, others] = [left, right].map((tokens) => new Set(tokens.map(({ text }) => text))) as [
    Set<string>,
    Set<string>,
  ];
  return PARTICLES.some(([one, other]) =>
    (ones.has(one) && !ones.has(other) && others.has(other) && !others.has(one)) ||
    (ones.has(other) && !ones.has(one) && others.has(one) && !others.has(other))
  );
}
