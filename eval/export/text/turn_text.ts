import { shorten } from "../../../shared/text.ts";
import type { InteractionResult } from "../../schemas/interaction_result.ts";
import type { ObservedToolCall } from "../../schemas/tools.ts";

/** Of a check's reason. */
const SHOWN_CHARACTERS = 2000;

/** The checks that a turn does not meet, each with its reason; the required ones first. */
export function describeFailedChecks({ check_results = [] }: InteractionResult): string[] {
  return check_results.filter(({ value }) => value === 0)
    .toSorted((a, b) => Number(b.required) - Number(a.required))
    .map(({ name, reason, required }) =>
      `failed check: ${name}${required ? " (required)" : ""}: ${
        shorten(reason ?? "", SHOWN_CHARACTERS, "…")
      }`
    );
}

/** In words why a reply contradicts its reference; nothing if it does not. */
export function describeContradiction(
  { agreement, wrong_values = [] }: Pick<InteractionResult, "agreement" | "wrong_values">,
): string[] {
  return [
    ...(agreement && agreement.contradicts > 0.5
      ? [`contradicts the reference (${agreement.contradicts.toFixed(2)})`]
      : []),
    ...(wrong_values.length > 0 ? [`wrong value: ${wrong_values.join(", ")}`] : []),
  ];
}

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
