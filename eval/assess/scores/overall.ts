import type { Scores } from "../../schemas/statistics.ts";
import type { Assessment } from "../assessment.ts";
import { mean } from "../mean.ts";
import type { Bounds, ScoreDescription } from "./score.ts";

/** The scores that `overall` is the mean of. */
export const OVERALL_PARTS = [
  "semantic_similarity",
  "metadata_match",
  "judge",
  "checks",
  "tools",
] as const;
type OverallPart = (typeof OVERALL_PARTS)[number];

/** A planned part of a turn's `overall`. */
interface PlannedPart {
  name: OverallPart;
  /** `null` if it is missing. */
  value: number | null;
  /** The bounds of a missing part; [0, 1] if unset. */
  bounds?: Bounds | undefined;
}

/** `bounds` is set if parts are missing. */
interface Overall {
  value: number | null;
  missing: OverallPart[];
  bounds?: Bounds;
}

/**
 * `overall` is the mean of the planned parts. They are fixed before the model is asked, so that a
 * judge that is down cannot raise it: if a part is missing, only the bounds are known. `null`
 * without missing parts means that none was planned. Scores of the wording are not included: a
 * right answer in other words is right.
 */
function overall(planned: PlannedPart[]): Overall {
  const missing = planned.filter(({ value }) => value === null).map(({ name }) => name);
  if (missing.length === 0) {
    return { value: mean(planned.map(({ value }) => value!)), missing };
  }
  const at = (end: 0 | 1) =>
    mean(planned.map(({ value, bounds = [0, 1] }) => value ?? bounds[end]))!;
  return { value: null, missing, bounds: [at(0), at(1)] };
}

/** Similarity to a name is not enough: "Lyon" is as near to "Paris" as a sentence about Paris. */
const NEAR_TO_NAME =
  "the reference is a single word or a name, and similarity alone does not tell " +
  "whether the reply is right: add a judge, a check or a label";

/**
 * Adds `overall` and its missing parts. A part that is `null` and not in `missing` was not planned.
 */
export function conclude(
  scores: Scores,
  { missing, bounds = {}, isNearnessToName = false }: {
    missing: Record<string, string>;
    bounds?: Record<string, Bounds>;
    isNearnessToName?: boolean;
  },
): Pick<Assessment, "scores" | "missing_scores" | "overall_bounds"> {
  const parts = OVERALL_PARTS
    .map((name) => ({ name, value: scores[name] ?? null, bounds: bounds[name] }))
    .filter(({ name, value }) => value !== null || Object.hasOwn(missing, name));
  if (isNearnessToName && parts.length === 1) {
    return {
      scores: { ...scores, overall: null },
      missing_scores: { ...missing, overall: NEAR_TO_NAME },
      overall_bounds: [0, 1],
    };
  }
  const headline = overall(parts);
  const reasons = headline.missing.length === 0
    ? missing
    : { ...missing, overall: `without ${headline.missing.join(", ")}` };
  return {
    scores: { ...scores, overall: headline.value },
    ...(Object.keys(reasons).length > 0 && { missing_scores: reasons }),
    ...(headline.bounds && { overall_bounds: headline.bounds }),
  };
}

/** The entry of `overall` in `GET /scores`. */
export function describeOverall(): ScoreDescription {
  return {
    name: "overall",
    definition: `the mean of ${
      OVERALL_PARTS.join(", ")
    }, of those that apply to the turn; null if one of them is missing, or if it would be the similarity to a single word or a name alone, and overall_bounds says where it lies`,
    range: [0, 1],
    method: "mean, each with the same weight",
  };
}
