import { abortError } from "../../shared/service/waiting.ts";
import {
  type CallClock,
  sleep,
  startCallClock,
  withRetries,
} from "../../shared/providers/call_clock.ts";
import {
  CallFailure,
  diagnose,
  type Diagnosis,
  type Redact,
} from "../../shared/providers/diagnosis.ts";
import { type Attempt, toProviderError } from "../../shared/providers/failure.ts";
import {
  createOpenAIClient,
  loadOpenAI,
  type OpenAIClient,
} from "../../shared/providers/openai_client.ts";
import type { EndpointPace } from "./pace.ts";

interface EndpointClientOptions {
  /** Named in messages. */
  modelId: string;
  /** The beginning of messages, if it is not asked for a reply. */
  what?: string;
  /** Sent as a bearer token. */
  credential: string | undefined;
  /** Where the credential is configured, for messages; by default those of endpoints under test. */
  keyVariable?: string;
  /** Removes the configured secrets from what the endpoint says. */
  redact?: Redact;
  /**
   * Limit of one attempt, from the request to the end of the answer. A call with all its attempts
   * takes at most twice this time plus 5 s, so that an attempt that hangs leaves time for the next.
   */
  timeoutMs: number;
  /** Further attempts after the first. */
  retries: number;
  /** See `createOutgoingFetch`. */
  fetch: typeof fetch;
  /** Limits the concurrent calls to the endpoint. */
  pace: EndpointPace;
}

/** Posts JSON to the model under test, the judge or the embeddings, and reads the answer. */
export interface EndpointClient {
  /** Throws `ProviderError`, or an `AbortError` if the signal is aborted. */
  post<T>(call: EndpointCall<T>, signal: AbortSignal): Promise<Answered<T>>;
}

export interface EndpointCall<T> {
  url: string;
  headers?: Record<string, string>;
  body: unknown;
  /** Throws what `diagnose` reads if the answer is not a reply. `sentAt`: see `performance.now`. */
  read: (response: Response, clock: CallClock, sentAt: number) => Promise<T>;
}

export interface Answered<T> {
  value: T;
  /** From the request to the end of the answer. Earlier attempts and waits do not count. */
  latencyMs: number;
}

/** Time for the waits between attempts, which are 1.5 s for two retries. */
const WAITING_MS = 5000;

const KEY_VARIABLE = "EVAL_CREDENTIALS, or EVAL_API_KEY and EVAL_ENDPOINTS";

const TIMED_OUT: Diagnosis = { failure: { kind: "timeout" } };

/** Calls with a timeout for each attempt, at the endpoint's pace. */
export function createEndpointClient(options: EndpointClientOptions): EndpointClient {
  const { modelId, credential, timeoutMs, retries, fetch, pace, redact } = options;
  const { keyVariable = KEY_VARIABLE } = options;
  const asked: Attempt = {
    provider: "the endpoint",
    model: modelId,
    ...(options.what !== undefined && { what: options.what }),
    ...(redact && { redact }),
    credential: { variable: keyVariable, isSet: Boolean(credential) },
  };
  /** By address: an endpoint has few, until it is known which one answers. */
  const clients = new Map<string, OpenAIClient>();

  function clientAt(url: string): OpenAIClient {
    const client = clients.get(url) ??
      createOpenAIClient({ baseUrl: url, apiKey: credential, fetch });
    clients.set(url, client);
    return client;
  }

  const totalMs = retries > 0 ? 2 * timeoutMs + WAITING_MS : timeoutMs;

  /** One attempt, with its own timeout. */
  async function attempt<T>(
    { url, headers = {}, read }: EndpointCall<T>,
    { body, ms, caller }: { body: string; ms: number; caller: AbortSignal },
  ): Promise<Answered<T>> {
    const clock = startCallClock(ms, caller);
    const sentAt = performance.now();
    try {
      const response = await clientAt(url).send("", { body, headers, signal: clock.signal });
      const value = await read(response, clock, sentAt);
      return { value, latencyMs: Math.round(performance.now() - sentAt) };
    } catch (error) {
      throw clock.isTimedOut() ? new CallFailure(TIMED_OUT) : error;
    } finally {
      clock.stop();
    }
  }

  /** A 429 while the limit can still be lowered: the retry has a better chance than this call. */
  const forgive = ({ failure }: Diagnosis) =>
    retries > 0 && failure.kind === "status" && failure.status === 429 && pace.isYielding;

  return {
    async post(call, signal) {
      await loadOpenAI(); // otherwise it would count as latency of the first call
      const body = JSON.stringify(call.body);
      // A time, not a timer: the attempts and the waits between them end by themselves before it.
      let endsAt = performance.now() + totalMs;
      const remainingMs = () => endsAt - performance.now();
      const clock = { signal, remainingMs, sleep: (ms: number) => sleep(ms, signal) };
      try {
        return await withRetries(async () => {
          const left = remainingMs();
          return await pace.run(() => {
            endsAt = performance.now() + left; // waiting for the pace does not count
            const ms = Math.max(0, Math.min(timeoutMs, left));
            return attempt(call, { body, ms, caller: signal });
          }, { signal, isRateLimit });
        }, { retries, clock, diagnose, forgive });
      } catch (error) {
        if (signal.aborted) throw abortError(signal);
        throw toProviderError(asked, diagnose(error), error);
      }
    },
  };
}

function isRateLimit(error: unknown): boolean {
  const { failure } = diagnose(error);
  return failure.kind === "status" && failure.status === 429;
}
