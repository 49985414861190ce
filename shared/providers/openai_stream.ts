import type { CallClock } from "./call_clock.ts";
import {
  bareFailure,
  hiddenFailure,
  peekBody,
  peekJson,
  readReply,
  readStart,
  unreadable,
} from "./answer.ts";
import { reasoningOf } from "./extra_fields.ts";
import { CallFailure } from "./diagnosis.ts";
import { isPlainShape } from "../http/json_shape.ts";
import { NOT_UTF8 } from "../http/utf8.ts";
import type { ChatDelta, ChatReply } from "./provider.ts";
import { MAX_READ } from "./provider_words.ts";
import { readServerSentEvents } from "./server_sent_events.ts";
import { createReplyAssembler } from "./reply_assembler.ts";

export interface StreamedCall {
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
