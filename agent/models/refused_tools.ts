import type { ChatRequest } from "../../shared/providers/provider.ts";
import type { Adaptation } from "./adapted_requests.ts";

/** The same request without the agent's tools, and without the fields that need some. */
export function withoutTools(
  { tools: _, mayOmitTools: __, extra = {}, ...request }: ChatRequest,
): ChatRequest {
  const { tool_choice: _choice, parallel_tool_calls: _parallel, ...rest } = extra;
  return { ...request, extra: rest };
}

/** True if the model is offered tools that nobody asked for. */
export function mayLoseTools({ tools, mayOmitTools }: ChatRequest): boolean {
  return Boolean(mayOmitTools && tools?.length);
}

const CALLING = "(?:native )?(?:tools?|functions?)(?:[ -](?:use|calls?|calling))?[`'\"]?";

/** How servers say that a model has no tools at all, or that they were started without. */
const WORDS = [
  new RegExp(`(?:does not|doesn't|do not|don't) support [\`'"]?${CALLING}\\s*(?:[.,:;(]|$)`, "im"),
  // Not of a kind of calls: "parallel tool calls are not supported".
  new RegExp(
    `(?:^|[^\\p{L}\\p{N}\\s]\\s*|\\b(?:that|the|as|because|since)\\s+)${CALLING} ` +
      "(?:is|are) not (?:currently )?(?:supported|enabled)",
    "iu",
  ),
  /\btool use has not been enabled\b/i, // NVIDIA
  /--enable-auto-tool-choice|\btools? param requires --jinja\b/, // vLLM, llama.cpp
];

/**
 * Models are offered the agent's tools. Those that refuse every request with tools are asked
 * without. Tools that the caller wants are never left out.
 */
export const REFUSED_TOOLS: Adaptation[] = [{
  applies: mayLoseTools,
  adapt: withoutTools,
  isRefusal: (status, { message }) =>
    [400, 405, 422, 500, 501].includes(status) &&
    WORDS.some((words) => words.test(message)),
}, {
  // OpenRouter, also while those providers of a model that take tools are down.
  applies: mayLoseTools,
  adapt: withoutTools,
  isPassing: true,
  isRefusal: (status, { message }) => status === 404 && /\bsupport tool use\b/i.test(message),
}];
