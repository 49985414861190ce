import type { CheckResult } from "./checks.ts";
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

/** The lowest grade by which a judge overrules a contradiction. */
const JUDGE_SAYS_OTHERWISE = 0.5;

/** Whether a reply contradicts its reference or has a wrong value, and no judge overrules that. */
export function isContradicting(
  { agreement, wrong_values, scores }: Pick<
    InteractionResult,
    "agreement" | "wrong_values" | "scores"
  >,
): boolean {
  if (agreementOf({ agreement, wrong_values }) !== "contradicts") return false;
  return (scores.judge ?? 0) < JUDGE_SAYS_OTHERWISE;
}

/**
 * How a reply agrees with its reference. A wrong value is a contradiction, even without a model.
 */
export function agreementOf(
  { agreement, wrong_values }: Pick<InteractionResult, "agreement" | "wrong_values">,
): AgreementLabel | undefined {
  return wrong_values ? "contradicts" : agreement?.label;
}

/** Whether the tool calls of an answered turn do not fit those expected. */
export function hasWrongTools(
  { scores, error }: Pick<InteractionResult, "scores" | "error">,
): boolean {
  return !isUnanswered({ error }) && scores.tools === 0;
}

/** Whether a check keeps its turn from passing. */
export function isBarring({ required, value }: CheckResult): boolean {
  return required && value === 0;
}

/** Errors of turns that were answered without a text, so that their score is known to be 0. */
const ANSWERED: ReadonlySet<string> = new Set(["empty_reply", "tool_calls_only"]);

/** Whether a call failed without an answer, which could have had any score. */
export function isUnanswered({ error }: Pick<InteractionResult, "error">): boolean {
  return error !== undefined && !ANSWERED.has(error.code);
}
