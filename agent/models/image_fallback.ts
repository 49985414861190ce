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
 * if one refuses a request with them, it is asked again without, and gets none from then on.
 */
export function withImageFallback<P extends ChatProvider>(provider: P): P {
  const refusing = new Set<string>();

  function prepare(request: ChatRequest): ChatRequest {
    if (!refusing.has(request.model) || !hasToolImages(request.messages)) return request;
    return { ...request, messages: withoutToolImages(request.messages) };
  }

  /** Remembers the model. Throws `error` if images cannot be the reason. */
  function noteRefusal(error: unknown, { model, messages }: ChatRequest): void {
    if (!isRefusal(error) || refusing.has(model) || !hasToolImages(messages)) throw error;
    if (refusing.size < MAX_MODELS) refusing.add(model);
  }

  async function complete(request: ChatRequest, options?: CallOptions): Promise<ChatReply> {
    const sent = prepare(request);
    try {
      return await provider.complete(sent, options);
    } catch (error) {
      noteRefusal(error, sent);
      const messages = withoutToolImages(request.messages);
      return await provider.complete({ ...request, messages }, options);
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
      noteRefusal(error, sent);
      const messages = withoutToolImages(request.messages);
      yield* provider.stream({ ...request, messages }, options);
    }
  }

  return { ...provider, complete, stream };
}

/** OpenRouter answers 404 if no provider of the model takes images. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProviderError && error.failure.kind === "status" &&
    [400, 404, 413, 415, 422].includes(error.failure.status);
}
