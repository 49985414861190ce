import type { Adaptation } from "./adapted_requests.ts";

const NEWER = "max_completion_tokens";

/** The words of providers that do not take a field. */
const NOT_TAKEN =
  /not (permitted|supported|allowed)|unsupported|unknown|unrecogni[sz]ed|unexpected/i;

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
function isRefusal(status: number, { message }: Error): boolean {
  return [400, 422].includes(status) && message.includes(NEWER) && NOT_TAKEN.test(message);
}
