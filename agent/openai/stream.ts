import { toHeaderValue } from "../answer/accounting.ts";
import {
  eventStreamResponse,
  loggedStream,
  openEventStream,
  type Outlet,
  type Push,
  type StreamContext,
} from "../answer/event_stream.ts";
import type { AgentEvent } from "../run/events.ts";
import { toSentFields } from "../run/sent_fields.ts";
import { createFrame, toChunk, toToolCall, toUsageChunk } from "./completion.ts";
import { toOpenAIError } from "./error_shape.ts";
import type { CompletionSource } from "./source.ts";

export interface StreamedCompletionOptions {
  signal: AbortSignal;
  context: StreamContext;
  /** The caller asked for a last chunk with the token counts. */
  includeUsage: boolean;
  /** The caller asked for the tool calls and their results. */
  showTools: boolean;
  keepAliveMs?: number;
}

/**
 * Answers with the chunks of a completion. A failure before the stream opens is thrown, so that it
 * sets the status. A later one is a chunk with `error`, at which OpenAI's clients throw.
 */
export async function streamCompletion(
  source: CompletionSource,
  options: StreamedCompletionOptions,
): Promise<Response> {
  const { signal, context, keepAliveMs } = options;

  async function produce(push: Push, outlet: Outlet): Promise<void> {
    const frame = createFrame(source.model);
    let hasStarted = false;
    const send = (chunk: unknown) => push({ data: JSON.stringify(chunk) });
    async function sendDelta(delta: Record<string, unknown>): Promise<void> {
      if (!hasStarted) {
        hasStarted = true;
        frame.model = source.model;
        await send(toChunk(frame, { delta: { role: "assistant", content: "" } }));
      }
      await send(toChunk(frame, { delta }));
    }

    const toDelta = createTranslator(options);
    const { reply, usage, account, fields } = await source.start({
      signal: outlet.signal,
      async emit(event) {
        const delta = toDelta(event);
        if (delta) await sendDelta(delta);
      },
    });
    Object.assign(context.fields, { model: source.model, ...fields });
    const { refusal, toolCalls } = reply;
    const calls = toolCalls.map((call, index) => ({ index, ...toToolCall(call) }));
    const sent = toSentFields(reply);
    // The thoughts have gone out piece by piece: sent again, a client would join them once more.
    delete sent.reasoning_content;
    if (refusal || calls.length > 0 || Object.keys(sent).length > 0 || !hasStarted) {
      await sendDelta({
        ...sent,
        ...(refusal && { refusal }),
        ...(calls.length > 0 && { tool_calls: calls }),
      });
    }
    const last = toChunk(frame, {
      finishReason: reply.finishReason ?? "stop",
      logprobs: reply.logprobs,
    });
    await send({ ...last, ...(account && { agent: account }) });
    if (options.includeUsage && usage) await send(toUsageChunk(frame, usage));
    await push({ data: "[DONE]" });
  }

  function sendError(push: Push, error: unknown): Promise<void> {
    return push({ data: JSON.stringify(toOpenAIError(error, context.requestId)) });
  }

  const stream = await openEventStream(loggedStream(produce, { context, sendError }), {
    signal,
    ...(keepAliveMs !== undefined && { keepAliveMs }),
  });
  return eventStreamResponse(stream, {
    headers: { ...source.headers, "x-agent-model": toHeaderValue(source.model) },
  });
}

/** Turns an event into a delta; `undefined` if the client did not ask for this kind of event. */
function createTranslator({ showTools }: { showTools: boolean }) {
  let hasText = false;
  let needsBreak = false;

  return (event: AgentEvent): Record<string, unknown> | undefined => {
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
      default:
        needsBreak = hasText;
        return showTools ? { tool_events: [event] } : undefined;
    }
  };
}
