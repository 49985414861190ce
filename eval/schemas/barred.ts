import { isBarring, isOpenBar } from "../../shared/schemas/checks.ts";
import type { InteractionResult } from "./interaction_result.ts";
import { isUnanswered } from "./unanswered.ts";

/**
 * Whether a turn cannot pass, whatever its scores are: a required check has failed, or its tool calls
 * do not fit.
 */
export function isBarred(
  turn: Pick<InteractionResult, "check_results" | "scores" | "error">,
): boolean {
  return hasWrongTools(turn) || (turn.check_results?.some(isBarring) ?? false);
}

/**
 * Whether a turn may be barred and nobody knows: a required check, or whether its tool calls fit,
 * could not be decided. A call without an answer decides neither; its own required checks are not known here.
 */
export function mayBeBarred(
  { check_results, missing_scores, scores, error }: Pick<
    InteractionResult,
    "check_results" | "missing_scores" | "scores" | "error"
  >,
): boolean {
  const isOpen = missing_scores?.tools !== undefined ||
    (isUnanswered({ error }) && scores.tools === 0);
  return isOpen || (check_results?.some(isOpenBar) ?? false);
}

/** Whether the tool calls of a turn do not fit those expected. A call without an answer made none. */
export function hasWrongTools(
  { scores, error }: Pick<InteractionResult, "scores" | "error">,
): boolean {
  return !isUnanswered({ error }) && scores.tools === 0;
}
