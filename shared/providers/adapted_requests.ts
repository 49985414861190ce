import {
  type CallOptions,
  type ChatDelta,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  ProviderError,
} from "./provider.ts";

/** A form of requests that some models refuse, and how to change it. */
export interface Adaptation {
  /** True for a request that may be refused; false once it is adapted. */
  applies(request: ChatRequest): boolean;
  adapt(request: ChatRequest): ChatRequest;
  /** True if this status and error refuse such a request. */
  isRefusal(status: number, error: ProviderError): boolean;
  /** Set if the refusal is temporary: each later request is tried unchanged first. */
  isPassing?: true;
}

/** The requests that follow each other until one is answered. */
interface Attempts {
  first(request: ChatRequest): ChatRequest;
  /** The request after one that failed. Throws `error` if no other would help. */
  next(failed: ChatRequest, error: unknown): ChatRequest;
  /** Called for the request that is answered, in a stream with the first delta. */
  onAnswer?(answered: ChatRequest): void;
}

/** More models than any service asks. */
const MAX_MODELS = 1_000;

/**
 * Asks models again, with an adapted request, if they refuse one. There is no list of such models: a
 * model that accepts the adapted request gets only that form from then on, unless the refusal was
 * temporary. Each adaptation is tried once, because some undo each other.
 */
export function createAdaptedAttempts(adaptations: Adaptation[]): Attempts {
  const known = adaptations.map((adaptation) => ({ ...adaptation, refusing: new Set<string>() }));
  /** Adapted requests, with the adaptations that were applied. */
  const further = new WeakMap<ChatRequest, typeof known>();

  return {
    first: (request) =>
      known.filter(({ refusing }) => refusing.has(request.model))
        .reduce((sent, { applies, adapt }) => applies(sent) ? adapt(sent) : sent, request),
    next(failed, error) {
      const status = error instanceof ProviderError && error.failure.kind === "status" &&
        error.failure.status;
      const before = further.get(failed) ?? [];
      const found = status &&
        known.find((adaptation) =>
          !before.includes(adaptation) && adaptation.applies(failed) &&
          adaptation.isRefusal(status, error as ProviderError)
        );
      if (!found) throw error;
      const request = found.adapt(failed);
      further.set(request, [...before, found]);
      return request;
    },
    onAnswer(answered) {
      for (const { refusing, isPassing } of further.get(answered) ?? []) {
        if (!isPassing && refusing.size < MAX_MODELS) refusing.add(answered.model);
      }
    },
  };
}

/** A provider whose models are asked again; see `createAdaptedAttempts`. */
export function withAdaptations<P extends ChatProvider>(
  provider: P,
  adaptations: Adaptation[],
): P {
  return { ...provider, ...withAttempts(provider, createAdaptedAttempts(adaptations)) };
}

/** Asks until a request is answered. */
export async function tryRequests<T>(
  request: ChatRequest,
  { first, next, onAnswer }: Attempts,
  ask: (request: ChatRequest) => Promise<T>,
): Promise<T> {
  for (let sent = first(request);;) {
    try {
      const answer = await ask(sent);
      onAnswer?.(sent);
      return answer;
    } catch (error) {
      sent = next(sent, error);
    }
  }
}

/** The calls of a provider, with further attempts. A stream that has begun is not restarted. */
export function withAttempts(
  provider: ChatProvider,
  attempts: Attempts,
): Pick<ChatProvider, "complete" | "stream"> {
  function complete(request: ChatRequest, options?: CallOptions): Promise<ChatReply> {
    return tryRequests(request, attempts, (sent) => provider.complete(sent, options));
  }

  async function* stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatDelta> {
    for (let sent = attempts.first(request);;) {
      let hasBegun = false;
      try {
        for await (const delta of provider.stream(sent, options)) {
          if (!hasBegun) attempts.onAnswer?.(sent);
          hasBegun = true;
          yield delta;
        }
        return;
      } catch (error) {
        if (hasBegun) throw error;
        sent = attempts.next(sent, error);
      }
    }
  }

  return { complete, stream };
}

/** How providers say that they do not accept a field. */
const NOT_TAKEN =
  /not (permitted|supported|allowed)|unsupported|unknown|unrecogni[sz]ed|unexpected/i;

/** True if a request is refused because of a field that the model does not accept. */
export function isUnknownField(status: number, { message }: Error): boolean {
  return [400, 422].includes(status) && NOT_TAKEN.test(message);
}
