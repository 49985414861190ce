import { abortError } from "../abort.ts";
import { type CallClock, type CallClockOptions, startCallClock } from "./call_clock.ts";
import { diagnose, type Diagnosis } from "./diagnosis.ts";
import { createOutgoingFetch } from "../http/fetch/outgoing_fetch.ts";
import { createOpenAIClient } from "./openai_client.ts";
import { readAnswer } from "./answer.ts";
import { type Attempt, toProviderError } from "./failure.ts";
import { parseModels, toCompletionParams } from "./openai_messages.ts";
import type { Redact } from "./provider_words.ts";
import { createRedactor } from "../redaction.ts";
import { withRetries } from "./retry.ts";
import { readAnyReply, readStream, type StreamedCall } from "./openai_stream.ts";
import type {
  CallOptions,
  ChatDelta,
  ChatProvider,
  ChatReply,
  ChatRequest,
  ListedModel,
  ModelLister,
} from "./provider.ts";

export { loadOpenAI } from "./openai_client.ts";

interface OpenAIProviderOptions {
  /** Its name in messages to callers: `hub`, `studio`. */
  name: string;
  /** May carry a query, which then goes with every request. */
  baseUrl: string;
  /** Without one, no `authorization` is sent. */
  apiKey?: string;
  /** The variable of the key, for messages: `HUB_API_KEY`. */
  keyVariable?: string;
  /** Removes the configured secrets from what the provider says; by default the key alone. */
  redact?: Redact;
  /**
   * Bounds a completion and a list of models as a whole, retries included; of a stream, the wait
   * for each next chunk, the first one with its retries.
   */
  timeoutMs: number;
  /** Bounds a stream as a whole: one that sends a piece now and then would never end. */
  streamTimeoutMs?: number;
  /** Further attempts on 408, 409, 429, 5xx and connection failures. */
  retries: number;
  fetch?: typeof fetch;
}

const STREAM_TIMEOUT_MS = 600_000;

/**
 * Any OpenAI-compatible provider. Throws `ProviderError`, or an `AbortError` once the caller's
 * signal is aborted. Connections are kept alive between calls.
 */
export function createOpenAIProvider(
  options: OpenAIProviderOptions,
): ChatProvider & ModelLister {
  const { name, timeoutMs: patience, streamTimeoutMs = STREAM_TIMEOUT_MS, retries } = options;
  const { baseUrl, fetch = createOutgoingFetch() } = options;
  const { send } = createOpenAIClient({ baseUrl, apiKey: options.apiKey, fetch });
  const { keyVariable, apiKey, redact = createRedactor(apiKey ? [apiKey] : []) } = options;
  const attempted: Attempt = {
    provider: name,
    redact,
    ...(keyVariable && { credential: { variable: keyVariable, isSet: Boolean(apiKey) } }),
  };

  /** Begins a call: its clock, its retries, and the translation of its errors. */
  function begin(attempt: Attempt, options: CallOptions & CallClockOptions) {
    const { signal: caller, maxWaitMs, timeoutMs = Infinity, ...limits } = options;
    const clock = startCallClock(Math.min(timeoutMs, patience), caller, limits);
    let isRetried = false;
    const onRetry = () => isRetried = true;
    return {
      clock,
      retry: <T>(send: () => Promise<T>) =>
        withRetries(send, { retries, clock, diagnose: diagnoseReply, maxWaitMs, onRetry }),
      explain: (error: unknown) => translate(error, { attempt, clock, caller, isRetried }),
    };
  }

  /** A call whose answer is read as a whole. */
  async function call<T>(
    attempt: Attempt,
    options: CallOptions,
    send: (clock: CallClock) => Promise<T>,
  ): Promise<T> {
    const { clock, retry, explain } = begin(attempt, options);
    try {
      return await retry(() => send(clock));
    } catch (error) {
      throw explain(error);
    } finally {
      clock.stop();
    }
  }

  async function complete(request: ChatRequest, options: CallOptions = {}): Promise<ChatReply> {
    const { model } = request;
    const body = JSON.stringify(toCompletionParams(request));
    return await call({ ...attempted, model }, options, async (clock) => {
      const response = await send("/chat/completions", { body, signal: clock.signal });
      return await readAnyReply(response, { clock, ...wantedOf(request) });
    });
  }

  async function* stream(
    request: ChatRequest,
    options: CallOptions = {},
  ): AsyncGenerator<ChatDelta> {
    const { model, omitsUsage } = request;
    const body = JSON.stringify({
      ...toCompletionParams(request),
      stream: true,
      ...(!omitsUsage && { stream_options: { include_usage: true } }),
    });
    const limits = { ...options, totalMs: streamTimeoutMs };
    const { clock, retry, explain } = begin({ ...attempted, model }, limits);

    /** Opens the stream up to its first delta: until then a failure is retried. */
    async function open() {
      const response = await send("/chat/completions", { body, signal: clock.signal });
      const deltas = readStream(response, { clock, ...wantedOf(request) });
      return { first: await deltas.next(), deltas };
    }

    try {
      const { first, deltas } = await retry(open);
      if (!first.done) yield first.value;
      yield* deltas;
    } catch (error) {
      throw explain(error);
    } finally {
      clock.stop();
    }
  }

  async function listModels(options: CallOptions = {}): Promise<ListedModel[]> {
    return await call(attempted, options, async ({ signal }) => {
      const response = await send("/models", { signal });
      return await readAnswer(response, ({ value }) => parseModels(value));
    });
  }

  return { name, complete, stream, listModels };
}

/** What is read from an answer: several choices only if it is passed through. */
function wantedOf({ model, rawMessages, extra }: ChatRequest): Omit<StreamedCall, "clock"> {
  const passesThrough = rawMessages !== undefined;
  return {
    model,
    passesThrough,
    choices: passesThrough && typeof extra?.n === "number" ? extra.n : 1,
  };
}

function translate(
  error: unknown,
  { attempt, clock, caller, isRetried }: {
    attempt: Attempt;
    clock: CallClock;
    caller: AbortSignal | undefined;
    isRetried: boolean;
  },
): Error {
  if (caller?.aborted) return abortError(caller);
  const diagnosis: Diagnosis = clock.isTimedOut()
    ? { failure: { kind: "timeout" } }
    : diagnoseReply(error);
  return toProviderError(attempt, { ...diagnosis, isRetried }, error);
}

/** An unreadable reply may have been paid for, and its caller waits: it is not requested again. */
function diagnoseReply(error: unknown): Diagnosis {
  const diagnosis = diagnose(error);
  return diagnosis.failure.kind === "unreadable" ? { ...diagnosis, isFinal: true } : diagnosis;
}
