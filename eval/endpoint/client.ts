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
   * takes at most twice as long and 5 s, so that one that hangs leaves time for the next.
   */
  timeoutMs: number;
  /** Further attempts after the first. */
  retries: number;
  /** Must not carry what we send to another origin, and must end an answer without end. */
  fetch: typeof fetch;
  /** How many calls the endpoint takes at once, as it turns out. */
  pace: EndpointPace;
}

/** Posts JSON to the model under test and reads the answer. */
export interface EndpointClient {
  /**
   * `read` takes the answer's JSON apart and returns `undefined` where it is no reply. Throws
   * `ProviderError`, or an `AbortError` once the signal is aborted.
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

/** For the waits between attempts; they are 1.5 s for two retries. */
const WAITING_MS = 5000;

const TIMED_OUT: Diagnosis = { failure: { kind: "timeout" } };
const UNREADABLE: Diagnosis = { failure: { kind: "unreadable" } };
const ENDLESS: Diagnosis = { ...UNREADABLE, isFinal: true };

/** A failure that is already understood, on its way to be told in our words. */
class CallFailure extends Error {
  constructor(readonly diagnosis: Diagnosis) {
    super(diagnosis.failure.kind);
  }
}

/**
 * A plain `fetch` with our clock, retries and errors around it. Not the OpenAI SDK: on a call that
 * costs a bare `fetch` 0.1 ms the SDK spends another 0.3, and an evaluation makes thousands.
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

  /** One attempt, within its own time. */
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

  /** The endpoint is asked less than before, so a refusal says nothing yet about the next call. */
  const forgive = ({ failure }: Diagnosis) =>
    retries > 0 && failure.kind === "status" && failure.status === 429 && pace.isYielding;

  return {
    async post(call, signal) {
      const body = JSON.stringify(call.body);
      const clock = startCallClock(totalMs, signal);
      try {
        return await withRetries(async () => {
          const entered = pace.enter(clock.signal);
          const place = entered instanceof Promise ? await clock.exempt(entered) : entered;
          return await place.run(() => attempt(call, body, clock.signal), isRateLimit);
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
  if (error instanceof AnswerTooLarge) return ENDLESS;
  if (error instanceof SyntaxError) return UNREADABLE;
  if (error instanceof AppError) return { failure: { kind: "unreachable" } };
  return { failure: diagnoseConnection(error) };
}

function isRateLimit(error: unknown): boolean {
  const { failure } = diagnose(error);
  return failure.kind === "status" && failure.status === 429;
}
