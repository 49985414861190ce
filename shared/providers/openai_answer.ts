import {
  asFields,
  asList,
  createShapeGauge,
  defined,
  isFields,
  isPlainShape,
  tryParseJson,
} from "../service/fields.ts";
import { type ChatDelta, type ChatReply, type DecodedAnswer, NOT_UTF8 } from "./provider.ts";
import { parseReply } from "./openai_messages.ts";
import { untilAbort } from "../service/waiting.ts";
import { CallFailure, dropCutWord, type FailedAnswer, MAX_READ } from "./diagnosis.ts";
import type { CallClock } from "./call_clock.ts";
import { reasoningOf } from "./content.ts";
import { readServerSentEvents } from "./server_sent_events.ts";
import { createReplyAssembler } from "./reply_assembler.ts";

/**
 * Reads a whole answer. Throws a `CallFailure` if it is not JSON, or if `parse` returns nothing for
 * it: with the status of the error if it is one. The content type does not matter: small gateways
 * send none, `text/plain`, or Flask's `text/html`.
 */
export async function readAnswer<T>(
  response: Response,
  parse: (answer: DecodedAnswer) => T | undefined,
): Promise<T> {
  const bytes = await response.arrayBuffer(); // also of a page: a slow one must time out
  const answer = parseJsonAnswer(bytes);
  const parsed = answer && parse(answer);
  if (parsed !== undefined) return parsed;
  throw hiddenFailure(response, answer?.value) ?? bareFailure(response, answer?.value) ??
    unreadable(response, new TextDecoder().decode(bytes));
}

/** Reads a completion. Throws the error of its choice, even if that has a part of a reply. */
async function readReply(response: Response, model: string): Promise<ChatReply> {
  return await readAnswer(response, (answer) => {
    const failure = hiddenFailure(response, answer.value);
    if (failure) throw failure;
    return parseReply(answer, model);
  });
}

/**
 * Whether an answer is one JSON text, from its content type or, if that says neither that nor events,
 * from its first character. `answer` is the one to read on.
 */
async function peekJson(
  response: Response,
): Promise<{ isJson: boolean; answer: Response }> {
  const type = response.headers.get("content-type") ?? "";
  const isJson = /[/+]json\b/.test(type);
  if (isJson || type.includes("event-stream") || !response.body) {
    return { isJson, answer: response };
  }
  return await peekBody(response);
}

/** The same from the first character alone. */
async function peekBody(
  response: Response,
): Promise<{ isJson: boolean; answer: Response }> {
  if (!response.body) return { isJson: false, answer: response };
  const [first, body] = response.body.tee();
  const { status, statusText, headers } = response;
  const answer = new Response(body, { status, statusText, headers });
  return { isJson: /^[[{]/.test(await readBeginning(first)), answer };
}

/** The text up to its first characters that are not blank. */
async function readBeginning(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let next; !text && !(next = await reader.read()).done;) {
    text = decoder.decode(next.value, { stream: true }).trimStart();
  }
  reader.cancel().catch(() => {}); // settles when the other branch has been read
  return text;
}

/**
 * The bytes of an answer as JSON; `undefined` if they are not JSON. Throws a `CallFailure` for JSON
 * that is nested too deeply or has too many values.
 */
export function parseJsonAnswer(bytes: ArrayBuffer): DecodedAnswer | undefined {
  let text: string;
  let encoding: typeof NOT_UTF8 | undefined;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    text = new TextDecoder().decode(bytes);
    encoding = NOT_UTF8;
  }
  createShapeGauge(strangeShape).add(text);
  const value = tryParseJson(text);
  return value === undefined ? undefined : defined({ value, encoding });
}

function strangeShape(shape: string): CallFailure {
  return new CallFailure({ failure: { kind: "unreadable", shape }, isFinal: true });
}

/** Limit for reading the text of an error, whose status is already known. */
const MAX_WAIT_MS = 2_000;

/** Returns a successful answer. Throws a `CallFailure` with the text of any other. */
export async function requireOk(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { status, headers } = response;
  const body = await readStart(response);
  throw new CallFailure({ failure: { kind: "status", status }, answer: { status, headers, body } });
}

/** The failure of an answer that is not what was asked for; `body` as far as it is known. */
function unreadable({ status, headers }: Response, body: string): CallFailure {
  const answer: FailedAnswer = { status, headers, body };
  return new CallFailure({ failure: { kind: "unreadable" }, answer });
}

/** The text of an answer up to the limits of time and length, cut after a word. Never rejects. */
export async function readStart({ body }: Response): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), MAX_WAIT_MS);
  let text = "";
  let isWhole = false;
  try {
    for (let bytes = 0; bytes < MAX_READ;) {
      const { done, value } = await untilAbort(reader.read(), limit.signal);
      isWhole = done;
      if (done) break;
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // The text so far is enough.
  }
  clearTimeout(timer);
  reader.cancel().catch(() => {});
  // JSON that can be read is whole, even if its connection stays open.
  return isWhole || typeof tryParseJson(text) === "object" ? text : dropCutWord(text);
}

/**
 * The failure of an error that was sent with status 200, such as `{"error": {"code": 429}}`, as if it
 * had the status that it names. `undefined` if the answer is not an error.
 */
export function hiddenFailure({ headers }: Response, value: unknown): CallFailure | undefined {
  const body = asFields([value].flat()[0]); // Gemini puts an error into a list
  const choice = asFields(asList(body.choices)[0]);
  if (isFields(choice.message) && !choice.error) return undefined;
  const error = body.error || choice.error;
  if (!error) return undefined;
  const { code, status: named, type } = asFields(error);
  const told = [code, named, body.code, body.status].map(Number)
    .find((number) => number >= 400 && number <= 599);
  const status = told ?? statusOf(`${code} ${type}`);
  const { choices: _, ...rest } = body; // may have a part of the reply
  const words = JSON.stringify({ ...rest, error });
  return new CallFailure({
    failure: { kind: "status", status },
    answer: { status, headers, body: words },
  });
}

/**
 * The failure of an answer or an event that is an error by itself, without a field `error`:
 * `{"object": "error", "message": …}` (vLLM, Mistral), `{"detail": …}` (FastAPI).
 */
export function bareFailure(response: Response, value: unknown): CallFailure | undefined {
  const { object, type, detail, choices, content } = asFields(value);
  const isError = /^error$/i.test(String(object ?? type)) || Boolean(detail);
  if (!isError || choices || content) return undefined;
  return hiddenFailure(response, { error: value });
}

const WORDS: [RegExp, number][] = [
  [/rate_limit|quota|overloaded/i, 429],
  [/auth|api_key|permission/i, 401],
  [/invalid|context_length|not_found|content/i, 400],
];

/** By the words that providers use as codes and types; 500 if they say nothing. */
function statusOf(words: string): number {
  return WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

interface StreamedCall {
  /** The model that is asked. */
  model: string;
  /** Runs while a chunk is awaited, and is paused while the reader of the stream has one. */
  clock: CallClock;
}

/** The wait for the usage and `[DONE]` after the last choice has ended. */
const LAST_WAIT_MS = 5_000;

/**
 * The deltas of a streamed answer. One that ends with neither a `finish_reason` of each choice nor
 * `[DONE]` was cut off and throws: half a reply must not pass for a short one. An event that is an
 * error throws it.
 */
export async function* readStream(
  opened: Response,
  call: StreamedCall,
): AsyncGenerator<ChatDelta> {
  const { model, clock } = call;
  const { isJson, answer: response } = await peekJson(opened);
  if (isJson) {
    yield* readWhole(response, call);
    return;
  }
  if (response.headers.get("content-type")?.includes("html")) {
    throw unreadable(response, await readStart(response));
  }
  const assembler = createReplyAssembler(model);
  let start = "";
  let isDone = false;
  let isUtf8 = true;
  let isUnfinished = false;
  let isError = false;
  let hasEvents = false;
  await using events = readServerSentEvents(response.body ?? new Blob().stream(), {
    onText: (text) => start += hasEvents || start.length > MAX_READ ? "" : text,
    onInvalid: () => isUtf8 = false,
    onUnfinished: () => isUnfinished = true,
    onError: () => isError = true,
    // A model that waits in its provider's queue is alive.
    onComment: () => assembler.isWhole() || clock.restart(),
  });
  /** The connection of a complete answer may break, unless the caller has left. */
  const isOver = () => assembler.isWhole() && (clock.isTimedOut() || !clock.signal.aborted);
  for (;;) {
    let next;
    try {
      next = await events.next();
    } catch (error) {
      if (!isOver()) throw error;
      break;
    }
    if (next.done) break;
    const data = next.value;
    isDone = data === "[DONE]";
    if (isDone) break;
    if (data.trim() === "") continue; // keeps the connection
    const isFirst = !hasEvents;
    hasEvents = true;
    const parsed = parseChunk(data);
    if (!parsed && isUnfinished) break;
    const chunk = isError && !parsed?.error ? { error: parsed ?? data } : parsed;
    // After other events with them, whose text may be private: see `toProviderError`.
    if (!chunk) throw unreadable(response, isFirst ? data : start + data);
    const failure = toFailure(response, chunk);
    if (failure) throw failure;
    clock.pause();
    const deltas = assembler.add(chunk);
    yield* deltas;
    clock.restart(assembler.isWhole() ? LAST_WAIT_MS : undefined);
  }
  if (!isDone && !assembler.isWhole()) {
    throw hasEvents || isStream(response, start)
      ? new CallFailure({ failure: { kind: "interrupted" } })
      : toFailure(response, parseChunk(start)) ?? unreadable(response, start);
  }
  clock.pause();
  const reply = assembler.reply();
  yield { type: "reply", reply: isUtf8 ? reply : { ...reply, encoding: NOT_UTF8 } };
}

/** The reply of an answer that was not to be streamed. Some providers stream it all the same. */
export async function readAnyReply(
  response: Response,
  { model, clock, onDelta }: StreamedCall & {
    /** Called for each piece of a reply that is streamed. */
    onDelta?: (() => void) | undefined;
  },
): Promise<ChatReply> {
  const isStream = response.headers.get("content-type")?.includes("event-stream");
  if (!isStream) return await readReply(response, model);
  const { isJson, answer } = await peekBody(response);
  if (isJson) return await readReply(answer, model);
  // One time limit for the whole reply, as for other answers, and the short one for what follows it.
  const restart = (ms?: number) => ms === undefined ? undefined : clock.restart(ms);
  const whole: CallClock = { ...clock, pause() {}, restart };
  const deltas = readStream(answer, { model, clock: whole });
  for await (const delta of deltas) {
    if (delta.type === "reply") return delta.reply;
    onDelta?.();
  }
  throw new CallFailure({ failure: { kind: "interrupted" } });
}

/** The deltas of a reply that a provider sent whole although a stream was requested. */
async function* readWhole(
  response: Response,
  { model, clock }: StreamedCall,
): AsyncGenerator<ChatDelta> {
  const reply = await readReply(response, model);
  clock.pause();
  const thoughts = reasoningOf(reply);
  if (thoughts) yield { type: "reasoning", text: thoughts };
  if (reply.content) yield { type: "text", text: reply.content };
  yield { type: "reply", reply };
}

function toFailure(response: Response, chunk: unknown): CallFailure | undefined {
  return hiddenFailure(response, chunk) ?? bareFailure(response, chunk);
}

/** Whether an answer without events is a stream, and not a JSON text under the name of one. */
function isStream({ headers }: Response, start: string): boolean {
  return Boolean(headers.get("content-type")?.includes("event-stream")) && !/^\s*[[{]/.test(start);
}

/** `undefined` for what is not JSON, or nested too deeply to be passed on; `{}` for `null`. */
function parseChunk(data: string) {
  if (!isPlainShape(data)) return undefined;
  try {
    return JSON.parse(data) ?? {};
  } catch {
    return undefined;
  }
}
