import {
  type CallOptions,
  type ChatDelta,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import { hasToolImages, withoutToolImages } from "../../shared/providers/tool_images.ts";

/** More models than any service asks. */
const MAX_MODELS = 1_000;

/**
 * A provider that gets the images of tools as long as it takes them. No list says which models do:
 * if one refuses a request with them, it is asked again without. If it takes that, it gets none from
 * then on.
 */
export function withImageFallback<P extends ChatProvider>(provider: P): P {
  const refusing = new Set<string>();

  function prepare(request: ChatRequest): ChatRequest {
    if (!refusing.has(request.model) || !hasToolImages(request.messages)) return request;
    return { ...request, messages: withoutToolImages(request.messages) };
  }

  /** The request to try next. Throws `error` if images cannot be its reason. */
  function withoutImages(request: ChatRequest, error: unknown): ChatRequest {
    if (!isRefusal(error) || !hasToolImages(request.messages)) throw error;
    return { ...request, messages: withoutToolImages(request.messages) };
  }

  function remember({ model }: ChatRequest): void {
    if (refusing.size < MAX_MODELS) refusing.add(model);
  }

  async function complete(request: ChatRequest, options?: CallOptions): Promise<ChatReply> {
    const sent = prepare(request);
    try {
      return await provider.complete(sent, options);
    } catch (error) {
      const reply = await provider.complete(withoutImages(sent, error), options);
      remember(sent);
      return reply;
    }
  }

  async function* stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatDelta> {
    const sent = prepare(request);
    let hasBegun = false;
    try {
      for await (const delta of provider.stream(sent, options)) {
        hasBegun = true;
        yield delta;
      }
    } catch (error) {
      if (hasBegun) throw error;
      for await (const delta of provider.stream(withoutImages(sent, error), options)) {
        remember(sent);
        yield delta;
      }
    }
  }

  return { ...provider, complete, stream };
}

/** OpenRouter answers 404 if no provider of the model takes images. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProviderError && error.failure.kind === "status" &&
    [400, 404, 413, 415, 422].includes(error.failure.status);
}
