import { mean } from "../mean.ts";

/** What the headline is made of, each with the same weight. */
export const OVERALL_PARTS = ["semantic_similarity", "metadata_match", "judge"] as const;
export type OverallPart = (typeof OVERALL_PARTS)[number];

/** The span in which a score lies. */
export type Bounds = [low: number, high: number];

/** A part that a turn's `overall` was planned with. */
export interface PlannedPart {
  name: OverallPart;
  /** `null`: it could not be had. */
  value: number | null;
  /** Where a part that could not be had may lie; anywhere in [0, 1] unless it is known better. */
  bounds?: Bounds | undefined;
}

/** `missing` names the parts that could not be had; `bounds` is only there if there are any. */
export interface Overall {
  value: number | null;
  missing: OverallPart[];
  bounds?: Bounds;
}

/**
 * The headline: the mean of the parts that the turn was planned with. The parts are fixed before
 * the model is asked, so that a judge that is down cannot raise it: if one of them is missing there
 * is no value, only the span in which it lies. `null` without missing parts means that none was
 * planned. Scores of form are no part of it: a right answer in other words is right.
 */
export function overall(planned: PlannedPart[]): Overall {
  const missing = planned.filter(({ value }) => value === null).map(({ name }) => name);
  if (missing.length === 0) {
    return { value: mean(planned.map(({ value }) => value!)), missing };
  }
  const at = (end: 0 | 1) =>
    mean(planned.map(({ value, bounds = [0, 1] }) => value ?? bounds[end]))!;
  return { value: null, missing, bounds: [at(0), at(1)] };
}
