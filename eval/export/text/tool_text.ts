import type { InteractionResult } from "../../schemas/interaction_result.ts";
import type { ObservedToolCall } from "../../schemas/tools.ts";

/** The calls of a turn with expected ones: what was expected, and what was called. */
export function describeTools(
  { reference_tools, tools_mode = "exact", tool_calls }: InteractionResult,
): string[] {
  if (!Array.isArray(reference_tools)) return [];
  return [
    `expected tools (${tools_mode}): ${listCalls(reference_tools)}`,
    `called tools: ${tool_calls ? listCalls(tool_calls) : "not reported"}`,
  ];
}

function listCalls(calls: { name: string; args?: ObservedToolCall["args"] | undefined }[]): string {
  return calls.map(describeCall).join(", ") || "none";
}

/** `search({"q":"kettle"})`. */
function describeCall(
  { name, args }: { name: string; args?: ObservedToolCall["args"] | undefined },
): string {
  if (args === undefined) return name;
  return `${name}(${typeof args === "string" ? args : JSON.stringify(args)})`;
}
