import type { Scores } from "../test/statistics.ts";
import type { Assessment } from "./assessment.ts";
import { mean } from "./mean.ts";
import type { ScoreDescription } from "./score.ts";

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
): Pick<Assessment, "scores" | "missing_scores"> {
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
