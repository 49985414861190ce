import { isSpaceless, splitBlanks, words } from "./words.ts";
import { squadTokens } from "./scores/lexical/squad.ts";
import { type PairScore, type PairScorer, scoreOfEmpty, scoreOfWordless } from "./score.ts";
import vectors from "./scores/vectors.json" with { type: "json" };

type Vector = typeof vectors[number];

/** The comparison of one score with the values of its reference implementation. */
interface Replay {
  compared: number;
  left_out: number;
  /** `null` if there is nothing to compare with. */
  largest_deviation: number | null;
  /** Set if the vectors have no values of this score, which is not a failure. */
  note?: "no reference";
}

/** Pairs for which a score differs from its reference implementation on purpose. */
const LEFT_OUT: { scores: string[]; reason: string; isLeftOut(vector: Vector): boolean }[] = [
  {
    scores: ["rouge_l"],
    reason: "the reference implementation drops every letter outside ASCII",
    isLeftOut: (vector) => !vector.ascii,
  },
  {
    scores: ["token_f1"],
    reason: "the reference implementation takes a text in a script without spaces for one token",
    isLeftOut: ({ reply, reference }) => reply !== reference && isSpaceless(reply + reference),
  },
  {
    scores: ["token_f1"],
    reason: "two texts of which normalisation leaves nothing score 0 in v1.1 and 1 here",
    isLeftOut: (vector) => hasNothing(vector, squadTokens),
  },
  {
    scores: ["rouge_l"],
    reason: "the same text without a word, or two empty texts, score 0 there and 1 here",
    isLeftOut: (vector) => hasNothing(vector, words) && isSame(vector),
  },
  {
    scores: ["chrf"],
    reason: "two empty texts, or two of nothing but blanks, score 0 there and 1 here",
    isLeftOut: (vector) => hasNothing(vector, splitBlanks) && isSame(vector),
  },
];

function hasNothing({ reply, reference }: Vector, cut: (text: string) => readonly string[]) {
  return cut(reply).length === 0 && cut(reference).length === 0;
}

function isSame({ reply, reference }: Vector): boolean {
  return (scoreOfEmpty(reply, reference) ?? scoreOfWordless(reply, reference)) === 1;
}

/** The self-test fails if a score deviates more than this. */
const TOLERANCE = 1e-9;

/** Computes the scores of the vectors and reports the largest deviation. */
export function runSelfTest(scorers: readonly Pick<PairScorer, "name" | "compare">[]) {
  const scores = replayVectors(
    Object.fromEntries(scorers.map(({ name, compare }) => [name, compare])),
  );
  const deviations = Object.values(scores).map((replay) => replay.largest_deviation ?? 0);
  const largest = Math.max(0, ...deviations);
  return {
    passed: largest <= TOLERANCE,
    pairs: vectors.length,
    tolerance: TOLERANCE,
    largest_deviation: largest,
    scores,
    left_out: LEFT_OUT.map(({ scores, reason, isLeftOut }) => ({
      scores,
      reason,
      pairs: vectors.filter(isLeftOut).map(({ reply, reference }) => ({ reply, reference })),
    })),
  };
}

/** Compares each score with its reference implementation, except for the pairs of `LEFT_OUT`. */
export function replayVectors(scores: Record<string, PairScore>): Record<string, Replay> {
  const replay = ([name, score]: [string, PairScore]): [string, Replay] => {
    const hasReference = vectors.some((vector) => name in vector);
    if (!hasReference) {
      return [name, { compared: 0, left_out: 0, largest_deviation: null, note: "no reference" }];
    }
    const rules = LEFT_OUT.filter((rule) => rule.scores.includes(name));
    const pairs = vectors.filter((vector) => !rules.some((rule) => rule.isLeftOut(vector)));
    const deviations = pairs.map((vector) => {
      const expected = vector[name as keyof Vector];
      // A missing value on either side is a full deviation.
      if (typeof expected !== "number") return 1;
      return Math.abs((score(vector.reply, vector.reference) ?? Infinity) - expected);
    });
    return [name, {
      compared: pairs.length,
      left_out: vectors.length - pairs.length,
      largest_deviation: Math.max(...deviations),
    }];
  };
  return Object.fromEntries(Object.entries(scores).map(replay));
}
