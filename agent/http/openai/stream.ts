import {
  type Outlet,
  type Push,
  streamEvents,
  type StreamOptions,
} from "../answer/event_stream.ts";
import { asFields, type Fields } from "../../../shared/service/fields.ts";
import { reasoningOf } from "../../../shared/providers/content.ts";
import type { ChatReply } from "../../../shared/providers/provider.ts";
import type { AgentEvent } from "../../core/agent_message.ts";
import { THOUGHTS_IN, toSentFields } from "../../core/run/caller_messages.ts";
import { createFrame, toChunk, toToolCall, toUsageChunk } from "./completion.ts";
import { toOpenAIError } from "./error_shape.ts";
import type { CompletionSource } from "./completion_source.ts";

interface StreamedCompletionOptions extends StreamOptions {
  /** The caller asked for a last chunk with the token counts. */
  includeUsage: boolean;
  /** The caller asked for the tool calls and their results. */
  showTools: boolean;
}

/**
 * Answers with the chunks of a completion. A failure before the stream opens is thrown, so that it
 * sets the status. A later one is a chunk with `error`, at which OpenAI's clients throw.
 */
export async function streamCompletion(
  source: CompletionSource,
  options: StreamedCompletionOptions,
): Promise<Response> {
  const { context } = options;

  async function produce({ push, signal }: Outlet): Promise<void> {
    const frame = createFrame(source.model());
    let hasStarted = false;
    let hasLogprobs = false;
    const send = (chunk: unknown) => push({ data: JSON.stringify(chunk) });
    async function sendDelta(delta: Fields, logprobs: Fields | null = null): Promise<void> {
      if (!hasStarted) {
        hasStarted = true;
        frame.model = source.model();
        // As OpenAI does: with "" before calls or reasoning, the AI SDK would show an empty text.
        const content = delta.content === undefined ? null : "";
        await send(toChunk(frame, { delta: { role: "assistant", content } }));
      }
      hasLogprobs ||= logprobs !== null;
      await send(toChunk(frame, { delta, logprobs }));
    }

    const toDelta = createTranslator(options);
    const { reply, usage, account, fields } = await source.start({
      signal,
      async emit(event) {
        const delta = toDelta(event);
        if (delta) await sendDelta(delta, event.type === "token" ? event.logprobs : null);
      },
    });
    Object.assign(context.fields, { model: source.model(), ...fields });
    const rest = restOf(reply, toDelta.calls);
    if (Object.keys(rest).length > 0 || !hasStarted) await sendDelta(rest);
    const last = toChunk(frame, {
      finishReason: reply.finishReason ?? "stop",
      logprobs: hasLogprobs ? null : reply.logprobs,
    });
    Object.assign(last.choices[0]!, { ...reply.choiceExtra, ...last.choices[0] });
    await send({ ...reply.answerExtra, ...last, ...(account && { agent: account }) });
    if (options.includeUsage && usage) await send(toUsageChunk(frame, usage));
    await push({ data: "[DONE]" });
  }

  function sendError(push: Push, error: unknown): Promise<void> {
    return push({ data: JSON.stringify(toOpenAIError(error, context.requestId)) });
  }

  return await streamEvents({ ...options, produce, sendError, headers: source.headers });
}

/** What a reply has beyond its text, its thoughts and the calls that were announced. */
function restOf(reply: ChatReply, announced: Set<number>): Fields {
  const { refusal, toolCalls } = reply;
  const sent = toSentFields(reply);
  // The thoughts were streamed as `reasoning_content`. Clients would append them a second time if
  // they were sent again, under either name.
  const thoughts = reasoningOf(reply);
  if (sent.reasoning_content === thoughts) delete sent.reasoning_content;
  if (sent.reasoning === thoughts) {
    delete sent.reasoning;
    sent[THOUGHTS_IN] = "reasoning";
  }
  const calls = toolCalls.flatMap((call, index) =>
    announced.has(index) ? [] : [{ index, ...toToolCall(call) }]
  );
  return {
    ...sent,
    ...(refusal && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Turns an event into a delta; `undefined` if the client did not ask for this kind of event. */
function createTranslator({ showTools }: { showTools: boolean }) {
  let hasText = false;
  let needsBreak = false;
  /** The calls that have been announced, by their index. */
  const calls = new Set<number>();

  function toDelta(event: AgentEvent): Fields | undefined {
    switch (event.type) {
      case "token": {
        // Text before and after a tool call are two messages: do not join their words.
        const content = needsBreak ? `\n\n${event.text}` : event.text;
        hasText = true;
        needsBreak = false;
        return { content };
      }
      case "reasoning":
        return { reasoning_content: event.text };
      case "call": {
        // Every chunk has `function`: the AI SDK and others refuse a call without it.
        const { index, id, name, arguments: text, extra } = event;
        const { function: more, ...fields } = extra ?? {};
        const called = { ...asFields(more), arguments: text };
        const isKnown = calls.has(index);
        calls.add(index);
        return {
          tool_calls: [
            isKnown
              ? { index, ...fields, function: called }
              : { index, id, type: "function", ...fields, function: { name, ...called } },
          ],
        };
      }
      default:
        needsBreak = hasText;
        return showTools ? { tool_events: [event] } : undefined;
    }
  }
  return Object.assign(toDelta, { calls });
}
