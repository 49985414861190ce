import { type DecodedAnswer, NOT_UTF8, parseJsonAnswer } from "../../shared/http/body/utf8.ts";
import { asFields, asList, asText, type Fields, isFields } from "../../shared/fields.ts";
import { createCallCollector } from "../../shared/providers/call_collector.ts";
import { CallFailure } from "../../shared/providers/failure.ts";
import { readFinishReason } from "../../shared/providers/finish_reason.ts";
import {
  parseContent,
  toolCallsIn,
  toToolCallParam,
} from "../../shared/providers/openai_messages.ts";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";

/**
 * Parses an answer's JSON. An answer that came as server-sent events, although none were asked for,
 * is put together. Throws a `SyntaxError` if it is neither, and a `CallFailure` if the events ended
 * before the answer was complete.
 */
export async function parseAnswer(bytes: ArrayBuffer, type: string): Promise<DecodedAnswer> {
  const isEvents = /^text\/event-stream\b/i.test(type) && bytes.byteLength > 0;
  if (!isEvents) return parseJsonAnswer(bytes);
  let encoding: typeof NOT_UTF8 | undefined;
  const onInvalid = () => encoding = NOT_UTF8;
  let isUnfinished = false;
  const onUnfinished = () => isUnfinished = true;
  const events = readServerSentEvents(new Response(bytes).body!, { onInvalid, onUnfinished });
  const value = await assemble(events, () => isUnfinished);
  return { value, ...(encoding && { encoding }) };
}

/** A completion from its chunks; or the one event that is an answer by itself. */
async function assemble(
  events: AsyncIterable<string>,
  isUnfinished: () => boolean,
): Promise<unknown> {
  const message: Fields & { content: string } = { role: "assistant", content: "" };
  const calls = createCallCollector();
  let last: Fields = {};
  let finishReason: string | null = null;
  let isWhole = false;
  for await (const data of events) {
    if (data.trim() === "[DONE]") {
      isWhole = true;
      continue;
    }
    if (data.trim() === "") continue; // keeps the connection
    const parsed = parseEvent(data, isUnfinished());
    if (parsed === undefined) break;
    const chunk = asFields(parsed);
    if (isAnswer(chunk)) return chunk;
    const choice = asFields(asList(chunk.choices)[0]);
    const delta = asFields(choice.delta);
    message.content += parseContent(delta.content) ?? "";
    for (const name of ["reasoning_content", "reasoning", "refusal"]) append(message, name, delta);
    for (const call of toolCallsIn(delta)) calls.add(call);
    finishReason = readFinishReason(choice) ?? finishReason;
    last = { ...last, ...chunk };
  }
  if (!isWhole && finishReason === null) {
    throw new CallFailure({ failure: { kind: "interrupted" } });
  }
  if (calls.list.length > 0) {
    message.tool_calls = calls.list.map((call) => toToolCallParam(call, call.extra));
  }
  return { ...last, choices: [{ index: 0, message, finish_reason: finishReason }] };
}

/** `undefined` for an event that was cut off. Throws a `SyntaxError` for one that is not JSON. */
function parseEvent(data: string, isUnfinished: boolean): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    if (isUnfinished) return undefined;
    throw error;
  }
}

/** An error, a whole completion, or an agent's message. */
function isAnswer(event: Fields): boolean {
  return Boolean(event.error) || isFields(asFields(asList(event.choices)[0]).message) ||
    (event.type === "ai" && "content" in event);
}

function append(target: Fields, name: string, source: Fields): void {
  const text = asText(source[name]);
  if (text !== null) target[name] = (asText(target[name]) ?? "") + text;
}
