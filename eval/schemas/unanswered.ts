import type { InteractionResult } from "./interaction_result.ts";

/** Errors of turns that were answered without a text, so that their score is known to be 0. */
const ANSWERED: ReadonlySet<string> = new Set(["empty_reply", "tool_calls_only"]);

/**
 * Whether a call failed without an answer, which could have had any score. In a file of its own,
 * because reports in a browser need it, and `barred.ts` imports the schemas of checks.
 */
export function isUnanswered({ error }: Pick<InteractionResult, "error">): boolean {
  return error !== undefined && !ANSWERED.has(error.code);
}
