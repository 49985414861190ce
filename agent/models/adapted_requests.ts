import {
  type ChatProvider,
  type ChatRequest,
  ProviderError,
} from "../../shared/providers/provider.ts";
import { withAttempts } from "./attempts.ts";

/** A form of requests that some models refuse, and what they are asked instead. */
export interface Adaptation {
  /** True for a request that may be refused; false once it is adapted. */
  applies(request: ChatRequest): boolean;
  adapt(request: ChatRequest): ChatRequest;
  /** True if this status and error refuse such a request. */
  isRefusal(status: number, error: ProviderError): boolean;
  /** Set if a model may take such requests again later: each is tried first. */
  isPassing?: true;
}

/** More models than any service asks. */
const MAX_MODELS = 1_000;

/**
 * A provider whose models are asked again, with an adapted request, if they refuse one. No list says
 * which models do. A model that takes the adapted request gets no other from then on, unless the
 * refusal is a passing one. Each adaptation is tried once: some undo each other.
 */
export function withAdaptations<P extends ChatProvider>(
  provider: P,
  adaptations: Adaptation[],
): P {
  const known = adaptations.map((adaptation) => ({ ...adaptation, refusing: new Set<string>() }));
  /** Requests that are sent because others were refused, and what was adapted in them. */
  const further = new WeakMap<ChatRequest, typeof known>();

  return {
    ...provider,
    ...withAttempts(provider, {
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
    }),
  };
}

/** The words of providers that do not take a field. */
const NOT_TAKEN =
  /not (permitted|supported|allowed)|unsupported|unknown|unrecogni[sz]ed|unexpected/i;

/** True if a request is refused because it has a field that the model does not take. */
export function isUnknownField(status: number, { message }: Error): boolean {
  return [400, 422].includes(status) && NOT_TAKEN.test(message);
}
