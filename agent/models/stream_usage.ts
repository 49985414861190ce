import { CallFailure } from "../../shared/providers/failure.ts";
import { toCompletionParams } from "../../shared/providers/openai_messages.ts";
import type { ChatRequest } from "../../shared/providers/provider.ts";

/** Sends the body of a request. Throws a `CallFailure` unless it is answered with 2xx. */
export type SendBody = (body: string, signal: AbortSignal) => Promise<Response>;

/** More models than any service asks. */
const MAX_MODELS = 1_000;

/**
 * Sends requests for streamed answers, which ask for the token counts as well. Some providers refuse
 * that (Mistral, older versions of Azure): then the request is sent again without it, and so are the
 * later ones to the same model.
 */
export function createStreamSender(
  send: SendBody,
): (request: ChatRequest, signal: AbortSignal) => Promise<Response> {
  const refusing = new Set<string>();

  return async (request, signal) => {
    const { model } = request;
    const params = { ...toCompletionParams(request), stream: true };
    if (!refusing.has(model)) {
      const usage = { stream_options: { include_usage: true } };
      try {
        return await send(JSON.stringify({ ...params, ...usage }), signal);
      } catch (error) {
        if (!isRefusedUsage(error)) throw error;
      }
    }
    const response = await send(JSON.stringify(params), signal);
    if (refusing.size < MAX_MODELS) refusing.add(model);
    return response;
  };
}

function isRefusedUsage(error: unknown): boolean {
  if (!(error instanceof CallFailure)) return false;
  const { failure, answer } = error.diagnosis;
  return failure.kind === "status" && [400, 422].includes(failure.status) &&
    /stream_options|include_usage/.test(answer?.body ?? "");
}
