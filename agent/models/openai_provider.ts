import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { abortError } from "../../shared/abort.ts";
import { type CallClock, startCallClock } from "../../shared/providers/call_clock.ts";
import { AnswerTooLarge, createBoundedFetch } from "../../shared/http/bounded_fetch.ts";
import { createPairFetch } from "../../shared/http/header_pairs.ts";
import { type DecodedAnswer, readJsonAnswer } from "../../shared/http/utf8.ts";
import { diagnoseConnection } from "../../shared/providers/connection_failure.ts";
import {
  type Attempt,
  type Diagnosis,
  toProviderError,
  unreadable,
} from "../../shared/providers/failure.ts";
import {
  parseModels,
  parseReply,
  toCompletionParams,
} from "../../shared/providers/openai_messages.ts";
import { withRetries } from "../../shared/providers/retry.ts";
import { readStream } from "./openai_stream.ts";
import {
  type CallOptions,
  type ChatDelta,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  type ListedModel,
  type ModelLister,
  ProviderError,
} from "../../shared/providers/provider.ts";

export interface OpenAIProviderOptions {
  /** Stands in messages to callers: `hub`, `studio`. */
  name: string;
  /** May carry a query, which then goes with every request. */
  baseUrl: string;
  /** Without one, no `authorization` is sent. */
  apiKey?: string;
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
  const { name, timeoutMs, streamTimeoutMs = STREAM_TIMEOUT_MS, retries } = options;
  const client = new Client(options);

  /** One whole call: its clock, its retries, and its errors in our words. */
  async function call<T>(
    attempt: Attempt,
    caller: AbortSignal | undefined,
    send: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const clock = startCallClock(timeoutMs, caller);
    try {
      return await withRetries(() => send(clock.signal), { retries, clock, diagnose });
    } catch (error) {
      throw translate(error, { attempt, clock, caller });
    } finally {
      clock.stop();
    }
  }

  async function complete(request: ChatRequest, options: CallOptions = {}): Promise<ChatReply> {
    const attempt = { provider: name, model: request.model };
    const params = toCompletionParams(request);
    const answer = await call(
      attempt,
      options.signal,
      async (signal) => await readJson(await post(params, signal)),
    );
    const reply = parseReply(answer, request.model);
    if (!reply) throw unreadable(attempt);
    return reply;
  }

  async function* stream(
    request: ChatRequest,
    { signal: caller }: CallOptions = {},
  ): AsyncGenerator<ChatDelta> {
    const attempt = { provider: name, model: request.model };
    const clock = startCallClock(timeoutMs, caller, { totalMs: streamTimeoutMs });
    try {
      const send = () => open(request, clock.signal);
      const response = await withRetries(send, { retries, clock, diagnose });
      yield* readStream(response, { attempt, clock });
    } catch (error) {
      throw translate(error, { attempt, clock, caller });
    } finally {
      clock.stop();
    }
  }

  function open(request: ChatRequest, signal: AbortSignal): Promise<Response> {
    const params = toCompletionParams(request);
    return post({ ...params, stream: true, stream_options: { include_usage: true } }, signal);
  }

  /** Without the SDK's types of a request: parts and fields that it does not know are sent too. */
  function post(body: unknown, signal: AbortSignal): Promise<Response> {
    return client.post("/chat/completions", { body, signal }).asResponse();
  }

  async function listModels(options: CallOptions = {}): Promise<ListedModel[]> {
    const attempt = { provider: name };
    // The SDK's own `models.list()` takes a page of HTML for an empty list.
    const body = await call(
      attempt,
      options.signal,
      async (signal): Promise<unknown> => await client.get("/models", { signal }),
    );
    const models = parseModels(body);
    if (!models) throw unreadable(attempt);
    return models;
  }

  return { name, complete, stream, listModels };
}

/** A completion under another content type is a page of something else. */
async function readJson(response: Response): Promise<DecodedAnswer> {
  const type = response.headers.get("content-type") ?? "";
  if (/[/+]json\b/.test(type)) return await readJsonAnswer(response);
  await response.arrayBuffer(); // a provider that stops within it is slow, whatever it sends
  throw new SyntaxError("the answer is not JSON");
}

/** The SDK, kept from all that it would read from the environment. */
class Client extends OpenAI {
  constructor({ baseUrl, apiKey, timeoutMs, fetch = globalThis.fetch }: OpenAIProviderOptions) {
    const defaultHeaders = { "user-agent": "assay", ...(!apiKey && { authorization: null }) };
    super({
      baseURL: baseUrl,
      // The SDK refuses to start without a key; the null header above keeps this one from going out.
      apiKey: apiKey || "none",
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: "off",
      maxRetries: 0,
      timeout: timeoutMs,
      defaultHeaders,
      fetch: createPairFetch(createBoundedFetch(fetch)),
    });
    // OPENAI_CUSTOM_HEADERS is merged in by the constructor, and has no option against it.
    this._options.defaultHeaders = defaultHeaders;
  }
}

function translate(
  error: unknown,
  { attempt, clock, caller }: {
    attempt: Attempt;
    clock: CallClock;
    caller: AbortSignal | undefined;
  },
): Error {
  if (caller?.aborted) return abortError(caller);
  if (error instanceof ProviderError) return error;
  if (clock.isTimedOut) return toProviderError(attempt, { failure: { kind: "timeout" } }, error);
  return toProviderError(attempt, diagnose(error), error);
}

function diagnose(error: unknown): Diagnosis {
  if (error instanceof APIConnectionTimeoutError) return { failure: { kind: "timeout" } };
  if (error instanceof APIConnectionError) return { failure: diagnoseConnection(error) };
  if (error instanceof APIError && error.status !== undefined) {
    return { failure: { kind: "status", status: error.status }, headers: error.headers };
  }
  // An error in the middle of a stream, text that is not JSON, or no end of it. Somebody is waiting
  // for a reply that may have been paid for: it is not asked for again.
  if (
    error instanceof APIError || error instanceof SyntaxError || error instanceof AnswerTooLarge
  ) {
    return { failure: { kind: "unreadable" }, isFinal: true };
  }
  // What is left is `fetch`: it throws a plain TypeError where a body breaks off.
  return { failure: { kind: "interrupted" } };
}
