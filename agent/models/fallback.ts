import {
  type CallOptions,
  type ChatDelta,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";

/** A provider for one run, which knows who answered last. */
export interface FallbackProvider extends ChatProvider {
  /** The model that answered, or that is being asked. */
  readonly answeredBy: string;
}

/**
 * Asks `models` in their order, from the first on, until one is there. The one that answered is
 * asked first for the rest of the run: the others would cost their retries at every step. A stream
 * that has begun is not begun anew by another model.
 */
export function createFallback(provider: ChatProvider, models: string[]): FallbackProvider {
  let current = 0;
  const modelAt = (index: number) => models[index]!;

  /** Moves on to the next model, or throws `error` where there is none or it is no help. */
  function moveOn(error: unknown): void {
    if (!isAbsent(error) || current + 1 >= models.length) throw error;
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

/** Too many requests, a fault of its own, or nobody there: another model may do better. */
function isAbsent(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { failure } = error;
  if (failure.kind === "status") return failure.status === 429 || failure.status >= 500;
  return failure.kind === "unreachable";
}
