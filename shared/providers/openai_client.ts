import type { OpenAI } from "openai";
import { abortError, loadApart } from "../service/waiting.ts";
import { createOutgoingFetch } from "../http/outgoing_fetch.ts";
import { createRedactor } from "../service/log.ts";
import { readAnswer, readAnyReply, readStream, requireOk } from "./openai_answer.ts";
import {
  type CallClock,
  type CallClockOptions,
  startCallClock,
  withRetries,
} from "./call_clock.ts";
import { diagnose, type Diagnosis, type Redact } from "./diagnosis.ts";
import { type Attempt, toProviderError } from "./failure.ts";
import { parseModels, toCompletionParams } from "./openai_messages.ts";
import type {
  CallOptions,
  ChatDelta,
  ChatProvider,
  ChatReply,
  ChatRequest,
  ListedModel,
  ModelLister,
} from "./provider.ts";

/** Sends requests to an OpenAI-compatible address. */
export interface OpenAIClient {
  /**
   * Sends a request to a path below the base address; with a body, which is JSON, by `POST`. Throws
   * what `diagnose` reads, unless it is answered with 2xx.
   */
  send(path: string, request: ClientRequest): Promise<Response>;
}

interface ClientRequest {
  body?: string;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

interface OpenAIClientOptions {
  /** May carry a query, which then goes with every request. */
  baseUrl: string;
  /** Without one, no `authorization` is sent. */
  apiKey?: string | undefined;
  /** See `createOutgoingFetch`. */
  fetch: typeof globalThis.fetch;
}

let loaded: typeof import("openai") | undefined;

/** Loads the package, which takes 130 ms; the first request does it, unless it was done before. */
export async function loadOpenAI(): Promise<typeof import("openai")> {
  return loaded ??= await loadApart(() => import("openai"));
}

/**
 * OpenAI's package as the client of any provider. Retries and timeouts are decided by our callers.
 * Answers are read here (`asResponse`): the package understands only what OpenAI itself sends, and
 * others send errors in other shapes or with status 200, events that were not asked for, and JSON
 * under other content types.
 */
export function createOpenAIClient(options: OpenAIClientOptions): OpenAIClient {
  let client: OpenAI | undefined;

  return {
    async send(path, { body, headers, signal }) {
      const { APIError, OpenAI } = loaded ?? await loadOpenAI();
      client ??= create(OpenAI, options);
      const type = body !== undefined && { "content-type": "application/json" };
      const request = { signal, headers: { ...headers, ...type } };
      try {
        const answer = body === undefined
          ? client.get(path, request)
          : client.post(path, { ...request, body });
        return await answer.asResponse();
      } catch (error) {
        throw error instanceof APIError && error.cause !== undefined ? error.cause : error;
      }
    },
  };
}

function create(
  Client: typeof OpenAI,
  { baseUrl, apiKey, fetch }: OpenAIClientOptions,
): OpenAI {
  class DirectClient extends Client {
    /**
     * With the headers that a call needs. The package's own would tell providers about this machine,
     * and building them takes longer than everything else that the package does for a call.
     */
    override buildRequest(
      { method, path, headers, body, signal }: Parameters<OpenAI["buildRequest"]>[0],
    ): ReturnType<OpenAI["buildRequest"]> {
      const sent = new Headers({ accept: "application/json", "user-agent": "assay" });
      if (apiKey) sent.set("authorization", `Bearer ${apiKey}`);
      for (const [name, value] of Object.entries(headers ?? {})) sent.set(name, value);
      const verb = method.toUpperCase();
      const req = { method: verb, headers: sent, body: body as string, signal: signal! };
      return Promise.resolve({ req, url: this.buildURL(path, undefined), timeout: this.timeout });
    }

    /** Without the package's timer and signal: each call has a `CallClock`. */
    override async fetchWithTimeout(
      url: string | URL | Request,
      init?: RequestInit,
    ): Promise<Response> {
      return await requireOk(await fetch(url, init));
    }
  }
  return new DirectClient({
    baseURL: baseUrl,
    apiKey: apiKey || "none", // required; `buildRequest` decides
    maxRetries: 0,
    logLevel: "off",
  });
}

interface OpenAIProviderOptions {
  /** Its name in messages to callers: `hub`, `studio`. */
  name: string;
  /** May carry a query, which then goes with every request. */
  baseUrl: string;
  /** Without one, no `authorization` is sent. */
  apiKey?: string | undefined;
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
  const { name, timeoutMs: patience, retries } = options;
  const { streamTimeoutMs = Math.max(STREAM_TIMEOUT_MS, patience) } = options;
  const { baseUrl, fetch = createOutgoingFetch() } = options;
  const { send } = createOpenAIClient({ baseUrl, apiKey: options.apiKey, fetch });
  const { keyVariable, apiKey, redact = createRedactor(apiKey ? [apiKey] : []) } = options;
  const attempted: Attempt = {
    provider: name,
    redact,
    credential: keyVariable ? { variable: keyVariable, isSet: Boolean(apiKey) } : undefined,
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
      return await readAnyReply(response, { clock, model });
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
      stream_options: omitsUsage ? undefined : { include_usage: true },
    });
    const limits = { ...options, totalMs: streamTimeoutMs };
    const { clock, retry, explain } = begin({ ...attempted, model }, limits);

    /** Opens the stream up to its first delta: until then a failure is retried. */
    async function open() {
      const response = await send("/chat/completions", { body, signal: clock.signal });
      const deltas = readStream(response, { clock, model });
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
