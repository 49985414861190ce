import { abortError } from "../../shared/abort.ts";
import { AppError } from "../../shared/errors.ts";
import { AnswerTooLarge } from "../../shared/http/bounded_fetch.ts";
import { type NOT_UTF8, readJsonAnswer } from "../../shared/http/utf8.ts";
import { startCallClock } from "../../shared/providers/call_clock.ts";
import { diagnoseConnection } from "../../shared/providers/connection_failure.ts";
import { type Diagnosis, toProviderError } from "../../shared/providers/failure.ts";
import { withRetries } from "../../shared/providers/retry.ts";
import type { EndpointPace } from "./pace.ts";

export interface EndpointClientOptions {
  /** Named in messages. */
  modelId: string;
  /** Sent as a bearer token. */
  credential: string | undefined;
  /**
   * Limit of one attempt, from the request to the end of the answer. A call with all its attempts
   * takes at most twice this time plus 5 s, so that an attempt that hangs leaves time for the next.
   */
  timeoutMs: number;
  /** Further attempts after the first. */
  retries: number;
  /** Must not follow redirects to another origin, and must bound the size of an answer. */
  fetch: typeof fetch;
  /** Limits the concurrent calls to the endpoint. */
  pace: EndpointPace;
}

/** Posts JSON to the model under test and reads the answer. */
export interface EndpointClient {
  /**
   * `read` parses the answer's JSON and returns `undefined` if it is not a reply. Throws
   * `ProviderError`, or an `AbortError` if the signal is aborted.
   */
  post<T>(call: EndpointCall<T>, signal: AbortSignal): Promise<T>;
}

export interface EndpointCall<T> {
  url: string;
  headers?: Record<string, string>;
  body: unknown;
  /** `encoding` is set if the answer's bytes were not UTF-8. */
  read: (answer: unknown, encoding?: typeof NOT_UTF8) => T | undefined;
}

/** Time for the waits between attempts, which are 1.5 s for two retries. */
const WAITING_MS = 5000;

const TIMED_OUT: Diagnosis = { failure: { kind: "timeout" } };
const UNREADABLE: Diagnosis = { failure: { kind: "unreadable" } };
const TOO_LARGE: Diagnosis = { ...UNREADABLE, isFinal: true };

/** A failure with its diagnosis; `toProviderError` makes a message of it. */
class CallFailure extends Error {
  constructor(readonly diagnosis: Diagnosis) {
    super(diagnosis.failure.kind);
  }
}

/**
 * A plain `fetch` with our own timeout, retries and errors. The OpenAI SDK is not used: it adds
 * 0.3 ms of CPU time to a call that takes 0.1 ms with `fetch`, and an evaluation makes thousands.
 */
export function createEndpointClient(options: EndpointClientOptions): EndpointClient {
  const { modelId, credential, timeoutMs, retries, fetch, pace } = options;
  const ownHeaders = {
    "content-type": "application/json",
    accept: "application/json",
    ...(credential && { authorization: `Bearer ${credential}` }),
  };

  async function send<T>(call: EndpointCall<T>, body: string, signal: AbortSignal): Promise<T> {
    const headers = { ...ownHeaders, ...call.headers };
    const response = await fetch(call.url, { method: "POST", headers, body, signal });
    if (!response.ok) {
      await response.body?.cancel();
      const failure = { kind: "status", status: response.status } as const;
      throw new CallFailure({ failure, headers: response.headers });
    }
    const { value, encoding } = await readJsonAnswer(response);
    const reply = call.read(value, encoding);
    if (reply === undefined) throw new CallFailure(UNREADABLE);
    return reply;
  }

  const totalMs = retries > 0 ? 2 * timeoutMs + WAITING_MS : timeoutMs;

  /** One attempt, with its own timeout. */
  async function attempt<T>(call: EndpointCall<T>, body: string, outer: AbortSignal): Promise<T> {
    const clock = startCallClock(timeoutMs, outer);
    try {
      return await send(call, body, clock.signal);
    } catch (error) {
      throw clock.isTimedOut ? new CallFailure(TIMED_OUT) : error;
    } finally {
      clock.stop();
    }
  }

  /** A 429 while the limit can still be lowered: the retry has a better chance than this call. */
  const forgive = ({ failure }: Diagnosis) =>
    retries > 0 && failure.kind === "status" && failure.status === 429 && pace.isYielding;

  return {
    async post(call, signal) {
      const body = JSON.stringify(call.body);
      const clock = startCallClock(totalMs, signal);
      try {
        return await withRetries(async () => {
          const acquired = pace.acquire(clock.signal);
          const permit = acquired instanceof Promise ? await clock.exempt(acquired) : acquired;
          return await permit.run(() => attempt(call, body, clock.signal), isRateLimit);
        }, { retries, clock, diagnose, forgive });
      } catch (error) {
        if (signal.aborted) throw abortError(signal);
        const diagnosis = clock.isTimedOut ? TIMED_OUT : diagnose(error);
        throw toProviderError({ provider: "the endpoint", model: modelId }, diagnosis, error);
      } finally {
        clock.stop();
      }
    },
  };
}

function diagnose(error: unknown): Diagnosis {
  if (error instanceof CallFailure) return error.diagnosis;
  if (error instanceof AnswerTooLarge) return TOO_LARGE;
  if (error instanceof SyntaxError) return UNREADABLE;
  if (error instanceof AppError) return { failure: { kind: "unreachable" } };
  return { failure: diagnoseConnection(error) };
}

function isRateLimit(error: unknown): boolean {
  const { failure } = diagnose(error);
  return failure.kind === "status" && failure.status === 429;
}
