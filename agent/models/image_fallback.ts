import {
  type ChatProvider,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import { hasToolImages, withoutToolImages } from "../../shared/providers/tool_images.ts";
import { withAttempts } from "./attempts.ts";

/** More models than any service asks. */
const MAX_MODELS = 1_000;

/**
 * A provider that gets the images of tools as long as it takes them. No list says which models do:
 * if one refuses a request with them, it is asked again without. If it takes that, it gets none from
 * then on.
 */
export function withImageFallback<P extends ChatProvider>(provider: P): P {
  const refusing = new Set<string>();
  /** Requests that are sent once more, without the images. */
  const further = new WeakSet<ChatRequest>();

  return {
    ...provider,
    ...withAttempts(provider, {
      first: (request) => refusing.has(request.model) ? withoutImages(request) : request,
      next(failed, error) {
        if (!isRefusal(error) || !hasToolImages(failed.messages)) throw error;
        const request = withoutImages(failed);
        further.add(request);
        return request;
      },
      onAnswer(answered) {
        if (further.has(answered) && refusing.size < MAX_MODELS) refusing.add(answered.model);
      },
    }),
  };
}

function withoutImages(request: ChatRequest): ChatRequest {
  if (!hasToolImages(request.messages)) return request;
  return { ...request, messages: withoutToolImages(request.messages) };
}

/** OpenRouter answers 404 if no provider of the model takes images. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProviderError && error.failure.kind === "status" &&
    [400, 404, 413, 415, 422].includes(error.failure.status);
}
