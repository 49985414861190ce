import { type Adaptation, isUnknownField } from "./adapted_requests.ts";

const NEWER = "max_completion_tokens";

/**
 * Models get the limit of tokens under the name that they take: OpenAI's reasoning models refuse
 * `max_tokens`, and Mistral refuses `max_completion_tokens`.
 */
export const TOKEN_LIMITS: Adaptation[] = [{
  applies: ({ maxTokens }) => maxTokens !== undefined,
  adapt: ({ maxTokens, ...request }) => ({
    ...request,
    extra: { ...request.extra, [NEWER]: maxTokens },
  }),
  isRefusal,
}, {
  applies: ({ maxTokens, extra, rawMessages }) =>
    !rawMessages && maxTokens === undefined && typeof extra?.[NEWER] === "number",
  adapt: ({ extra: { [NEWER]: limit, ...extra } = {}, ...request }) => ({
    ...request,
    extra,
    maxTokens: limit as number,
  }),
  isRefusal,
}];

/** OpenAI names the field to use instead. */
function isRefusal(status: number, error: Error): boolean {
  return isUnknownField(status, error) && error.message.includes(NEWER);
}
