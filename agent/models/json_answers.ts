import { asFields } from "../../shared/fields.ts";
import type { Adaptation } from "./adapted_requests.ts";
import { mayLoseTools, withoutTools } from "./refused_tools.ts";

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
  applies: (request) => mayLoseTools(request) && wantsJson(request.extra),
  adapt: withoutTools,
  isRefusal: (status, { message }) =>
    [400, 422].includes(status) && WORDS.every((words) => words.test(message)),
};
