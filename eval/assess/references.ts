import type { Interaction, Scenario } from "../schemas/scenario.ts";
import { chooseMethod } from "./scores/similarity_method.ts";

type Referenced = Pick<Interaction, "reference_reply" | "reference_replies">;

/**
 * What a reply is compared with, each once. An empty reference does not count: results have `""` for a turn
 * without one, and may be sent in again.
 */
export function referencesOf({ reference_reply, reference_replies }: Referenced): string[] {
  // A run that is older than the list may have a field of the caller's own by its name.
  const others = Array.isArray(reference_replies) ? reference_replies : [];
  return [...new Set([reference_reply, ...others].filter((text) => text))] as string[];
}

/** The first of them: what a conversation continues after. `undefined` if there is none. */
export function referenceOf(interaction: Referenced): string | undefined {
  return referencesOf(interaction)[0];
}

/** What the replies of a batch are compared with, in the order of its turns. */
export function* references(scenarios: Scenario[]): Generator<string> {
  for (const { interactions } of scenarios) {
    for (const interaction of interactions) yield* referencesOf(interaction);
  }
}

/** Whether the first reference is compared by MiniLM: most batches are in one language. */
export function isForEnglishEncoder(scenarios: Scenario[]): boolean {
  const [reference] = references(scenarios);
  if (reference === undefined) return false;
  const unknown = { isEnglish: false, isChinese: false, hasCjkEncoder: true };
  const { encoder, by } = chooseMethod(reference, unknown);
  return encoder === "english" && by !== "answer";
}
