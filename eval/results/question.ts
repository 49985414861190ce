import { createHash } from "node:crypto";
import { type Scenario, systemPromptOf } from "../schemas/scenario.ts";

/** What a scenario asks: its system prompt and its messages. */
type Asking = Pick<Scenario, "system_prompt"> & { interactions: { user_message: string }[] };

/**
 * Equal for scenarios that ask the same, whatever they are called: twelve copies of one question are
 * no more evidence than one. A digest: the texts may have many megabytes.
 */
export function questionOf(scenario: Asking): string {
  const asked = scenario.interactions.map(({ user_message }) => user_message);
  return createHash("sha256").update(JSON.stringify([systemPromptOf(scenario), ...asked]))
    .digest("base64");
}
