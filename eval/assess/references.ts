import type { Interaction, Scenario } from "../../shared/schemas/scenario.ts";
import { chooseMethod } from "./scores/similarity_method.ts";

/**
 * What a reply is compared with; `undefined` if there is nothing. An empty one is none: results have
 * `""` for a turn without a reference, and may be sent in again.
 */
export function referenceOf(
  { reference_reply }: Pick<Interaction, "reference_reply">,
): string | undefined {
  return reference_reply === "" ? undefined : reference_reply;
}

/** What the replies of a batch are compared with, in the order of its turns. */
export function* references(scenarios: Scenario[]): Generator<string> {
  for (const { interactions } of scenarios) {
    for (const { reference_reply } of interactions) if (reference_reply) yield reference_reply;
  }
}

/** Whether the first reference is compared by MiniLM: most batches are in one language. */
export function isForEnglishEncoder(scenarios: Scenario[]): boolean {
  const [reference] = references(scenarios);
  if (reference === undefined) return false;
  const unknown = { isEnglish: false, isChinese: false, hasCjkEncoder: true };
  const { encoder, share } = chooseMethod(reference, unknown);
  return encoder === "english" && share > 0;
}
