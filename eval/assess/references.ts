import type { Scenario } from "../../shared/schemas/scenario.ts";
import { chooseMethod } from "./scores/similarity_method.ts";

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
