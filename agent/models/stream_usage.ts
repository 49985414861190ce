import type { Adaptation } from "./adapted_requests.ts";

/**
 * Streams are asked for the counts of tokens, too. Mistral and older versions of Azure refuse that,
 * and are asked without.
 */
export const STREAM_USAGE: Adaptation = {
  applies: ({ omitsUsage }) => !omitsUsage,
  adapt: (request) => ({ ...request, omitsUsage: true }),
  isRefusal: (status, { message }) =>
    [400, 422].includes(status) && /stream_options|include_usage/.test(message),
};
