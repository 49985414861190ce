import { abortError } from "../../shared/abort.ts";
import { AppError } from "../../shared/errors.ts";
import { AnswerTooLarge } from "../../shared/http/fetch/outgoing_fetch.ts";
import type { NOT_UTF8 } from "../../shared/http/body/utf8.ts";
import { sleep, startCallClock } from "../../shared/providers/call_clock.ts";
import { diagnoseConnection } from "../../shared/providers/connection_failure.ts";
import { requireOk, unreadable } from "../../shared/providers/failed_answer.ts";
import {
  type Attempt,
  CallFailure,
  type Diagnosis,
  toProviderError,
} from "../../shared/providers/failure.ts";
import { hiddenFailure } from "../../shared/providers/hidden_error.ts";
import type { Redact } from "../../shared/providers/provider_words.ts";
import { withRetries } from "../../shared/providers/retry.ts";
import { parseAnswer } from "./answer.ts";
import type { EndpointPace } from "./pace.ts";

export interface EndpointClientOptions {
  /** Named in messages. */
  modelId: string;
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
  read: (answer: unknown, about: AboutAnswer) => T | undefined;
}

/** What is known of an answer beside its JSON. */
export interface AboutAnswer {
  /** From its request to its last byte. Earlier attempts and waits do not count. */
  latencyMs: number;
  /** Set if its bytes were not UTF-8. */
  encoding?: typeof NOT_UTF8;
}

/** Time for the waits between attempts, which are 1.5 s for two retries. */
const WAITING_MS = 5000;

const KEY_VARIABLE = "EVAL_CREDENTIALS, or EVAL_API_KEY and EVAL_ENDPOINTS";

const TIMED_OUT: Diagnosis = { failure: { kind: "timeout" } };
const UNREADABLE: Diagnosis = { failure: { kind: "unreadable" } };
const TOO_LARGE: Diagnosis = {
  failure: { kind: "unreadable", why: "too_large" },
  isFinal: true,
};

/**
 * A plain `fetch` with our own timeout, retries and errors. The OpenAI SDK is not used: it adds
 * 0.3 ms of CPU time to a call that takes 0.1 ms with `fetch`, and an evaluation makes thousands.
 */
export function createEndpointClient(options: EndpointClientOptions): EndpointClient {
  const { modelId, credential, timeoutMs, retries, fetch, pace, redact } = options;
  const { keyVariable = KEY_VARIABLE } = options;
  const asked: Attempt = {
    provider: "the endpoint",
    model: modelId,
    ...(redact && { redact }),
    credential: { variable: keyVariable, isSet: Boolean(credential) },
  };
  const ownHeaders = {
    "content-type": "application/json",
    accept: "application/json",
    ...(credential && { authorization: `Bearer ${credential}` }),
  };

  async function send<T>(call: EndpointCall<T>, body: string, signal: AbortSignal): Promise<T> {
    const headers = { ...ownHeaders, ...call.headers };
    const sentAt = performance.now();
    const response = await fetch(call.url, { method: "POST", headers, body, signal });
    await requireOk(response);
    const bytes = await response.arrayBuffer();
    const latencyMs = Math.round(performance.now() - sentAt);
    const reply = await readReply(response, { bytes, latencyMs }, call);
    if (reply === undefined) throw unreadable(response, new TextDecoder().decode(bytes));
    return reply;
  }

  const totalMs = retries > 0 ? 2 * timeoutMs + WAITING_MS : timeoutMs;

  /** One attempt, with its own timeout. */
  async function attempt<T>(
    call: EndpointCall<T>,
    body: string,
    { ms, caller }: { ms: number; caller: AbortSignal },
  ): Promise<T> {
    const clock = startCallClock(ms, caller);
    try {
      return await send(call, body, clock.signal);
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
      const body = JSON.stringify(call.body);
      // A time, not a timer: the attempts and the waits between them end by themselves before it.
      let endsAt = performance.now() + totalMs;
      const remainingMs = () => endsAt - performance.now();
      const clock = { signal, remainingMs, sleep: (ms: number) => sleep(ms, signal) };
      try {
        return await withRetries(async () => {
          const acquired = pace.acquire(signal);
          const left = remainingMs();
          const permit = acquired instanceof Promise ? await acquired : acquired;
          endsAt = performance.now() + left; // waiting for a permit does not count
          const ms = Math.max(0, Math.min(timeoutMs, left));
          return await permit.run(() => attempt(call, body, { ms, caller: signal }), isRateLimit);
        }, { retries, clock, diagnose, forgive });
      } catch (error) {
        if (signal.aborted) throw abortError(signal);
        throw toProviderError(asked, diagnose(error), error);
      }
    },
  };
}

/** `undefined` if the answer is not a reply. Throws if it is an error in spite of its status. */
async function readReply<T>(
  response: Response,
  { bytes, latencyMs }: { bytes: ArrayBuffer; latencyMs: number },
  { read }: EndpointCall<T>,
): Promise<T | undefined> {
  const type = response.headers.get("content-type") ?? "";
  try {
    const { value, encoding } = await parseAnswer(bytes, type);
    const failure = hiddenFailure(response, value);
    if (failure) throw failure;
    return read(value, { latencyMs, ...(encoding && { encoding }) });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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
