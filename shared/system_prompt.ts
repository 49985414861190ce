import type { Scenario } from "./schemas/scenario.ts";

/**
 * The system prompt of a scenario; empty if it has none. In datasets that were stored before the
 * field had a meaning, it may be anything.
 */
export function systemPromptOf({ system_prompt }: Pick<Scenario, "system_prompt">): string {
  return typeof system_prompt === "string" ? system_prompt : "";
}
