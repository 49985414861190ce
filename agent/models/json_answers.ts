import { asFields } from "../../shared/fields.ts";
import type { Adaptation } from "./adapted_requests.ts";

/** True if the provider is asked for an answer in JSON. */
export function wantsJson(extra: Record<string, unknown> | undefined): boolean {
  const { type } = asFields(extra?.response_format);
  return type === "json_object" || type === "json_schema";
}

/** What the words of a refusal name together: tools, the format of JSON, and that both do not go. */
const WORDS = [
  /\b(tools?|functions?)\b/i,
  /\bjson\b|response.(format|mime)|structured.output|controlled.generation|grammar/i,
  /cannot|can't|not (supported|allowed|permitted)|unsupported|incompatible|both|same time/i,
];

/**
 * Models are asked for JSON with the agent's tools. Groq, Gemini and others refuse these together,
 * and are asked without the tools. Those that the caller wants are never left out.
 */
export const JSON_WITHOUT_TOOLS: Adaptation = {
  applies: ({ tools, mayOmitTools, extra }) =>
    Boolean(mayOmitTools && tools?.length) && wantsJson(extra),
  adapt: ({ tools: _, mayOmitTools: __, extra = {}, ...request }) => {
    const { tool_choice: _choice, parallel_tool_calls: _parallel, ...rest } = extra;
    return { ...request, extra: rest };
  },
  isRefusal: (status, { message }) =>
    [400, 422].includes(status) && WORDS.every((words) => words.test(message)),
};
