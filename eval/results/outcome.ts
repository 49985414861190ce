import type { InteractionResult } from "../../shared/schemas/evaluate.ts";
import { isBarred } from "../../shared/schemas/barred.ts";
import { DEFAULT_PASS_THRESHOLD, HEADLINE, reaches } from "./passing.ts";

/**
 * `unscored`: it was answered, but nothing was expected of the answer. `incomplete`: it was
 * answered, and a part of its score is missing.
 */
export type Outcome = "passed" | "below" | "failed" | "incomplete" | "unscored";

/** The outcome of a turn for a threshold in [0, 1]. */
export function outcomeOf(
  turn: Pick<InteractionResult, "error" | "scores" | "missing_scores" | "check_results">,
  threshold: number,
): Outcome {
  const { error, scores, missing_scores } = turn;
  if (error) return "failed";
  if (isBarred(turn)) return "below";
  const score = scores[HEADLINE] ?? null;
  if (score === null) return missing_scores?.[HEADLINE] ? "incomplete" : "unscored";
  return reaches(score, threshold) ? "passed" : "below";
}

/** The threshold of a run's request, or the default. */
export function thresholdOf(request: Record<string, unknown>): number {
  const { pass_threshold } = request;
  return typeof pass_threshold === "number" ? pass_threshold : DEFAULT_PASS_THRESHOLD;
}
