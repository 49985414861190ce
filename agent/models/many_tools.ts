import { MAX_OFFERED_TOOLS } from "../../shared/providers/provider.ts";
import type { Adaptation } from "./adapted_requests.ts";
import { mayLoseTools } from "./refused_tools.ts";

/** What the words of a refusal name together. */
const WORDS = [/\b(tools|function declarations)\b/i, /\b(maximum|at most)\b/i];

/**
 * Models are offered all of the agent's tools, or the first of them if they refuse so many: OpenAI,
 * Azure and Groq take 128, xAI 200, Gemini 512. Tools that the caller wants are never left out.
 */
export const MANY_TOOLS: Adaptation = {
  applies: (request) => mayLoseTools(request) && (request.tools ?? []).length > MAX_OFFERED_TOOLS,
  adapt: ({ tools = [], ...request }) => ({
    ...request,
    tools: tools.slice(0, MAX_OFFERED_TOOLS),
  }),
  isRefusal: (status, { message }) =>
    [400, 422].includes(status) && WORDS.every((words) => words.test(message)),
};
