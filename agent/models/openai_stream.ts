import type { CallClock } from "../../shared/providers/call_clock.ts";
import { createReplyAssembler } from "./openai_assembler.ts";
import { type Attempt, unreadable } from "../../shared/providers/failure.ts";
import { parseReply } from "../../shared/providers/openai_messages.ts";
import { NOT_UTF8, readJsonAnswer } from "../../shared/http/utf8.ts";
import type { ChatDelta } from "../../shared/providers/provider.ts";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

export interface StreamedCall {
  attempt: Required<Attempt>;
  /** Runs while a chunk is awaited, and stands while the reader of the stream has one. */
  clock: CallClock;
}

/**
 * The deltas of a streamed answer. One that ends with neither a `finish_reason` nor `[DONE]` was cut
 * off and throws: half a reply must not pass for a short one. This is why the events are read
 * here: the SDK's reader hides `[DONE]`, and takes an abort for the end.
 */
export async function* readStream(
  response: Response,
  call: StreamedCall,
): AsyncGenerator<ChatDelta> {
  const { attempt, clock } = call;
  if (response.headers.get("content-type")?.includes("json")) {
    yield* readWhole(response, call);
    return;
  }
  const assembler = createReplyAssembler(attempt.model);
  let isDone = false;
  let isUtf8 = true;
  const events = readServerSentEvents(
    response.body ?? new Blob().stream(),
    () => isUtf8 = false,
  );
  for await (const data of events) {
    isDone = data === "[DONE]";
    if (isDone) break;
    const chunk = JSON.parse(data);
    if (chunk?.error) throw unreadable(attempt);
    clock.pause();
    yield* assembler.add(chunk);
    clock.restart();
  }
  const { reply } = assembler;
  if (reply.finishReason === null && !isDone) throw unreadable(attempt);
  clock.pause();
  yield { type: "reply", reply: isUtf8 ? reply : { ...reply, encoding: NOT_UTF8 } };
}

/** From a provider that does not stream, and says so by sending all of it. */
async function* readWhole(
  response: Response,
  { attempt, clock }: StreamedCall,
): AsyncGenerator<ChatDelta> {
  const reply = parseReply(await readJsonAnswer(response), attempt.model);
  if (!reply) throw unreadable(attempt);
  clock.pause();
  if (reply.content) yield { type: "text", text: reply.content };
  yield { type: "reply", reply };
}
