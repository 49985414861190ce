import type { InteractionResult } from "../../schemas/interaction_result.ts";

/**
 * Patterns of `lower(column) like … escape '!'` for a text in any letter case. SQLite's `lower`
 * knows only ASCII, so other letters are looked for as they are, in lower case and in upper case.
 */
export function likePatterns(text: string): string[] {
  const asciiLower = (form: string) => form.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const forms = new Set([text, text.toLowerCase(), text.toUpperCase()].map(asciiLower));
  return [...forms].map((form) => `%${form.replaceAll(/[!%_]/g, "!$&")}%`);
}

/** Whether a turn's message, reply or reference contains a text, in any letter case. */
export function findsText(
  { user_message, agent_reply, reference_reply }: Pick<
    InteractionResult,
    "user_message" | "agent_reply" | "reference_reply"
  >,
  text: string,
): boolean {
  const wanted = text.toLowerCase();
  return [user_message, agent_reply, reference_reply]
    .some((own) => own.toLowerCase().includes(wanted));
}
