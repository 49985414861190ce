import type { Interaction } from "../../schemas/scenario.ts";

/** Whether anything is expected of a turn's tool calls; `[]` expects that there are none. */
export function expectsTools({ reference_tools }: Interaction): boolean {
  return Array.isArray(reference_tools);
}
