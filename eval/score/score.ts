import type { Scores } from "../test/statistics.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import { mean } from "./mean.ts";

/** A score of two texts in [0, 1]; `null` if it is not defined for them. */
export type PairScore = (reply: string, reference: string) => number | null;

/** A score in `GET /scores`. */
export interface ScoreDescription {
  name: string;
  definition: string;
  range: [number, number];
  method: string;
  /** The reference implementation whose values it reproduces. */
  equals?: string;
  /** The limits of the score. */
  limits?: string;
}

/**
 * The longest text of any pair score, in characters. All scores of two such texts take one to two
 * seconds. A megabyte would take minutes and gigabytes, and a worker that runs out of memory ends
 * the process.
 */
export const MAX_PAIR_CHARACTERS = 200_000;

/** An entry of the table `pairScorers`. */
export interface PairScorer extends ScoreDescription {
  /** In characters (UTF-16 code units). A longer text has no score. */
  longest: number;
  compare: PairScore;
}

/**
 * The value of every score if both texts are empty (1) or one is (0); `undefined` if neither is.
 */
export function scoreOfEmpty(reply: string, reference: string): number | undefined {
  if (reply !== "" && reference !== "") return undefined;
  return reply === reference ? 1 : 0;
}

/**
 * The score of two texts without tokens (blanks, `?!`): whether they are the same.
 */
export function scoreOfWordless(reply: string, reference: string): number {
  return reply.normalize("NFKC").trim() === reference.normalize("NFKC").trim() ? 1 : 0;
}

/** The scores that `overall` is the mean of. */
export const OVERALL_PARTS = [
  "semantic_similarity",
  "metadata_match",
  "judge",
  "checks",
  "tools",
] as const;

/** Similarity to a name is not enough: "Lyon" is as near to "Paris" as a sentence about Paris. */
const NEAR_TO_NAME =
  "the reference is a single word or a name, and similarity alone does not tell " +
  "whether the reply is right: add a judge, a check or a label";

/**
 * Adds `overall`, the mean of the planned parts, and its missing parts. A part that is `null` and
 * not in `missing` was not planned. The plan is fixed before the model is asked, so that a judge
 * that is down cannot raise the mean: if a part is missing, so is the mean, and counts 0. Scores of
 * the wording are not included: a right answer in other words is right.
 */
export function conclude(
  scores: Scores,
  { missing, isNearnessToName = false }: {
    missing: Record<string, string>;
    isNearnessToName?: boolean;
  },
): Pick<InteractionResult, "scores" | "missing_scores"> {
  const parts = OVERALL_PARTS
    .map((name) => ({ name, value: scores[name] ?? null }))
    .filter(({ name, value }) => value !== null || Object.hasOwn(missing, name));
  if (isNearnessToName && parts.length === 1) {
    return {
      scores: { ...scores, overall: null },
      missing_scores: { ...missing, overall: NEAR_TO_NAME },
    };
  }
  const lacking = parts.filter(({ value }) => value === null).map(({ name }) => name);
  if (lacking.length === 0) {
    return {
      scores: { ...scores, overall: mean(parts.map(({ value }) => value!)) },
      ...(Object.keys(missing).length > 0 && { missing_scores: missing }),
    };
  }
  return {
    scores: { ...scores, overall: null },
    missing_scores: { ...missing, overall: `without ${lacking.join(", ")}` },
  };
}

/** The entry of `overall` in `GET /scores`. */
export function describeOverall(): ScoreDescription {
  return {
    name: "overall",
    definition: `the mean of ${
      OVERALL_PARTS.join(", ")
    }, of those that apply to the turn; null if one of them is missing, or if it would be the similarity to a single word or a name alone: then it counts 0 in means`,
    range: [0, 1],
    method: "mean, each with the same weight",
  };
}
