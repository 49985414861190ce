import {
  type CallOptions,
  type ChatProvider,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import { withPlainCallIds } from "./turn_calls.ts";
import { isSameProvider } from "../../shared/providers/extra_fields.ts";
import { LONGEST_DELAY_MS } from "../../shared/providers/retry.ts";
import { withAttempts } from "../../shared/providers/adapted_requests.ts";

/** A provider for one run that falls back to other models. */
export interface FallbackProvider extends ChatProvider {
  /** The model that answered last, or that is being asked now. */
  answeredBy(): string;
}

/**
 * Asks `models` in their order until one is available. The one that answered is asked first for the
 * rest of the run: the models before it would cost their retries at every step. A stream that has
 * begun is not restarted with another model. A model of another provider may refuse call ids that it
 * did not create, so it gets plain ones.
 */
export function createFallback(provider: ChatProvider, models: string[]): FallbackProvider {
  let current = 0;
  function withModel(request: ChatRequest): ChatRequest {
    const model = models[current]!;
    const isOther = (from: string) => !isSameProvider(from, model);
    if (!models.slice(0, current).some(isOther)) return { ...request, model };
    const messages = withPlainCallIds(
      request.messages,
      (from) => from === undefined || isOther(from),
    );
    return { ...request, model, messages };
  }

  /** While there is another model to ask, a long wait is not worth it. */
  function withWait(options: CallOptions = {}): CallOptions {
    return current + 1 < models.length ? { ...options, maxWaitMs: LONGEST_DELAY_MS } : options;
  }
  const impatient: ChatProvider = {
    name: provider.name,
    complete: (request, options) => provider.complete(request, withWait(options)),
    stream: (request, options) => provider.stream(request, withWait(options)),
  };

  return {
    name: provider.name,
    ...withAttempts(impatient, {
      first: withModel,
      next(failed, error) {
        if (!isUnavailable(error) || current + 1 >= models.length) throw error;
        current++;
        return withModel(failed);
      },
    }),
    answeredBy: () => models[current]!,
  };
}

/** Rate limited, failing, unreachable or disconnected: another model may be available. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { failure } = error;
  if (failure.kind === "status") return failure.status === 429 || failure.status >= 500;
  return failure.kind === "unreachable" || failure.kind === "interrupted";
}
