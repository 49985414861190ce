import type { Interaction, Scenario } from "../test/scenario.ts";
import { isWordless } from "./text/wordless.ts";

type Referenced = Pick<Interaction, "reference_reply" | "reference_replies">;

/**
 * The distinct references of a turn. Empty ones are left out: results have `""` for a turn without
 * a reference, and may be sent in again as a batch.
 */
export function referencesOf({ reference_reply, reference_replies }: Referenced): string[] {
  // In runs stored before the field existed, `reference_replies` may be a field of the caller.
  const others = Array.isArray(reference_replies) ? reference_replies : [];
  return [...new Set([reference_reply, ...others].filter((text) => text))] as string[];
}

/** The first reference, with which a conversation may continue; `undefined` if there is none. */
export function referenceOf(interaction: Referenced): string | undefined {
  return referencesOf(interaction)[0];
}

/** All references of a batch, in the order of its turns. */
export function* references(scenarios: Scenario[]): Generator<string> {
  for (const { interactions } of scenarios) {
    for (const interaction of interactions) yield* referencesOf(interaction);
  }
}

/** Whether the encoder compares the first reference: most batches are of one kind. */
export function isForEncoder(scenarios: Scenario[]): boolean {
  const [reference] = references(scenarios);
  return reference !== undefined && !isWordless(reference);
}
