import type {
  CallOptions,
  ChatDelta,
  ChatProvider,
  ChatReply,
  ChatRequest,
} from "../../shared/providers/provider.ts";

/** The requests that follow each other until one is answered. */
export interface Attempts {
  first(request: ChatRequest): ChatRequest;
  /** The request after one that failed. Throws `error` if no other would help. */
  next(failed: ChatRequest, error: unknown): ChatRequest;
  /** Called for the request that is answered, in a stream with the first delta. */
  onAnswer?(answered: ChatRequest): void;
}

/** The calls of a provider, attempted with other requests. A stream that has begun is not begun again. */
export function withAttempts(
  provider: ChatProvider,
  { first, next, onAnswer }: Attempts,
): Pick<ChatProvider, "complete" | "stream"> {
  async function complete(request: ChatRequest, options?: CallOptions): Promise<ChatReply> {
    for (let sent = first(request);;) {
      try {
        const reply = await provider.complete(sent, options);
        onAnswer?.(sent);
        return reply;
      } catch (error) {
        sent = next(sent, error);
      }
    }
  }

  async function* stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatDelta> {
    for (let sent = first(request);;) {
      let hasBegun = false;
      try {
        for await (const delta of provider.stream(sent, options)) {
          if (!hasBegun) onAnswer?.(sent);
          hasBegun = true;
          yield delta;
        }
        return;
      } catch (error) {
        if (hasBegun) throw error;
        sent = next(sent, error);
      }
    }
  }

  return { complete, stream };
}
