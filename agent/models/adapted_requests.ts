import {
  type ChatProvider,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import { withAttempts } from "./attempts.ts";

/** More models than any service asks. */
const MAX_MODELS = 1_000;

/** A request that some models refuse, and what they are asked instead. */
export interface Adaptation {
  /** True for a request that may be refused. One that is adapted may not be any more. */
  applies(request: ChatRequest): boolean;
  adapt(request: ChatRequest): ChatRequest;
  /** True if this status and error refuse such a request. */
  isRefusal(status: number, error: ProviderError): boolean;
}

/**
 * A provider whose models are asked again, with an adapted request, if they refuse one. No list says
 * which models do. A model that takes the adapted request gets no other from then on.
 */
export function withAdaptation<P extends ChatProvider>(
  provider: P,
  { applies, adapt, isRefusal }: Adaptation,
): P {
  const refusing = new Set<string>();
  /** Requests that are sent because another was refused. */
  const further = new WeakSet<ChatRequest>();

  return {
    ...provider,
    ...withAttempts(provider, {
      first: (request) =>
        refusing.has(request.model) && applies(request) ? adapt(request) : request,
      next(failed, error) {
        const isRefused = error instanceof ProviderError && error.failure.kind === "status" &&
          isRefusal(error.failure.status, error);
        if (!isRefused || !applies(failed)) throw error;
        const request = adapt(failed);
        further.add(request);
        return request;
      },
      onAnswer(answered) {
        if (further.has(answered) && refusing.size < MAX_MODELS) refusing.add(answered.model);
      },
    }),
  };
}
