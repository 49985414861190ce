import type { RunEncoder } from "../answer/run_request.ts";
import { toAccount } from "../answer/run_request.ts";
import { asFields, type Fields } from "../../../shared/service/fields.ts";
import { reasoningOf } from "../../../shared/providers/content.ts";
import type { ChatReply } from "../../../shared/providers/provider.ts";
import type { AgentEvent } from "../../core/agent_message.ts";
import { THOUGHTS_IN, toSentFields } from "../../core/run/caller_messages.ts";
import {
  createFrame,
  lastReply,
  runUsage,
  toChunk,
  toToolCall,
  toUsageChunk,
} from "./completion.ts";
import { toOpenAIError } from "./error_shape.ts";

interface CompletionEncoding {
  /** The model that answered, or that is being asked now. */
  model: () => string;
  requestId: string;
  /** The caller asked for a last chunk with the token counts. */
  includeUsage: boolean;
  /** The caller asked for the tool calls and their results. */
  showTools: boolean;
}

/** Writes a run as the chunks of a completion. A failure is a chunk with `error`, at which OpenAI's clients throw. */
export function createCompletionEncoder(
  { model, requestId, includeUsage, showTools }: CompletionEncoding,
): RunEncoder {
  const frame = createFrame(model());
  const toDelta = createTranslator(showTools);
  let hasStarted = false;
  let hasLogprobs = false;
  const encode = (chunk: unknown) => ({ data: JSON.stringify(chunk) });

  function encodeDelta(delta: Fields, logprobs: Fields | null = null) {
    hasLogprobs ||= logprobs !== null;
    const chunk = () => encode(toChunk(frame, { delta, logprobs }));
    if (hasStarted) return [chunk()];
    hasStarted = true;
    frame.model = model();
    // As OpenAI does: with "" before calls or reasoning, the AI SDK would show an empty text.
    const content = delta.content === undefined ? null : "";
    return [encode(toChunk(frame, { delta: { role: "assistant", content } })), chunk()];
  }

  return {
    event(event) {
      const delta = toDelta(event);
      return delta ? encodeDelta(delta, event.type === "token" ? event.logprobs : null) : [];
    },
    finish(ended) {
      const reply = lastReply(ended.report);
      const usage = includeUsage && runUsage(ended.report);
      const rest = restOf(reply, toDelta.calls);
      const deltas = Object.keys(rest).length > 0 || !hasStarted ? encodeDelta(rest) : [];
      const last = toChunk(frame, {
        finishReason: reply.finishReason ?? "stop",
        logprobs: hasLogprobs ? null : reply.logprobs,
      });
      Object.assign(last.choices[0]!, { ...reply.choiceExtra, ...last.choices[0] });
      return [
        ...deltas,
        encode({ ...reply.answerExtra, ...last, agent: toAccount(ended) }),
        ...usage ? [encode(toUsageChunk(frame, usage))] : [],
        { data: "[DONE]" },
      ];
    },
    fail: (error) => [encode(toOpenAIError(error, requestId))],
  };
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
function createTranslator(showTools: boolean) {
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
