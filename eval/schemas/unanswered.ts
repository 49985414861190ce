import type { InteractionResult } from "./interaction_result.ts";

/** Errors of turns that were answered, only without a text: that is a fact about the model. */
const ANSWERED: ReadonlySet<string> = new Set(["empty_reply", "tool_calls_only"]);

/**
 * Whether a call failed without an answer: nobody knows what it would have been. By itself, because
 * reports in a browser need it, and `barred.ts` brings the schemas of checks with it.
 */
export function isUnanswered({ error }: Pick<InteractionResult, "error">): boolean {
  return error !== undefined && !ANSWERED.has(error.code);
}
