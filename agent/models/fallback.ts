import {
  type CallOptions,
  type ChatDelta,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";

/** A provider for one run that falls back to other models. */
export interface FallbackProvider extends ChatProvider {
  /** The model that answered last, or that is being asked now. */
  readonly answeredBy: string;
}

/**
 * Asks `models` in their order until one is available. The one that answered is asked first for the
 * rest of the run: the models before it would cost their retries at every step. A stream that has
 * begun is not restarted with another model.
 */
export function createFallback(provider: ChatProvider, models: string[]): FallbackProvider {
  let current = 0;
  const modelAt = (index: number) => models[index]!;

  /** Moves on to the next model. Throws `error` if there is none, or if another would not help. */
  function moveOn(error: unknown): void {
    if (!isUnavailable(error) || current + 1 >= models.length) throw error;
    current++;
  }

  async function complete(request: ChatRequest, options?: CallOptions): Promise<ChatReply> {
    for (;;) {
      try {
        return await provider.complete({ ...request, model: modelAt(current) }, options);
      } catch (error) {
        moveOn(error);
      }
    }
  }

  async function* stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatDelta> {
    for (;;) {
      let hasBegun = false;
      try {
        for await (
          const delta of provider.stream({ ...request, model: modelAt(current) }, options)
        ) {
          hasBegun = true;
          yield delta;
        }
        return;
      } catch (error) {
        if (hasBegun) throw error;
        moveOn(error);
      }
    }
  }

  return {
    name: provider.name,
    complete,
    stream,
    get answeredBy() {
      return modelAt(current);
    },
  };
}

/** Rate limited, failing or unreachable: another model may be available. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { failure } = error;
  if (failure.kind === "status") return failure.status === 429 || failure.status >= 500;
  return failure.kind === "unreachable";
}
