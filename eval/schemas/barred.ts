import { isBarring, isOpenBar } from "./checks.ts";
import { isUnanswered } from "./unanswered.ts";
import type { AgreementLabel, InteractionResult } from "./interaction_result.ts";

/**
 * Whether a turn cannot pass, whatever its scores are: a required check has failed, its tool calls
 * do not fit, or it contradicts its reference.
 */
export function isBarred(
  turn: Pick<
    InteractionResult,
    "check_results" | "scores" | "error" | "agreement" | "wrong_values"
  >,
): boolean {
  return hasWrongTools(turn) || isContradicting(turn) ||
    (turn.check_results?.some(isBarring) ?? false);
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

/** The least grade of a judge that says that the reply is right after all. */
const JUDGE_SAYS_OTHERWISE = 0.5;

/** Whether a reply contradicts its reference, or has a wrong value, and no judge says otherwise. */
export function isContradicting(
  { agreement, wrong_values, scores }: Pick<
    InteractionResult,
    "agreement" | "wrong_values" | "scores"
  >,
): boolean {
  if (agreementOf({ agreement, wrong_values }) !== "contradicts") return false;
  return (scores.judge ?? 0) < JUDGE_SAYS_OTHERWISE;
}

/** How a reply agrees with its reference. A wrong value contradicts it, also if no model compared them. */
export function agreementOf(
  { agreement, wrong_values }: Pick<InteractionResult, "agreement" | "wrong_values">,
): AgreementLabel | undefined {
  return wrong_values ? "contradicts" : agreement?.label;
}

/** Whether the tool calls of a turn do not fit those expected. A call without an answer made none. */
export function hasWrongTools(
  { scores, error }: Pick<InteractionResult, "scores" | "error">,
): boolean {
  return !isUnanswered({ error }) && scores.tools === 0;
}
