import { reasoningOf } from "../../../shared/providers/content.ts";
import { toToolCallParam } from "../../../shared/providers/openai_messages.ts";
import type { ChatReply, ToolCall } from "../../../shared/providers/provider.ts";
import type { AgentEvent, ToolEvent } from "../../core/agent_message.ts";
import { type RunEncoder, toAccount } from "../answer/run_request.ts";
import { THOUGHTS_IN, toSentFields } from "../../core/run/caller_messages.ts";
import type { RunReport } from "../../core/run/runner.ts";
import { randomHex } from "../../../shared/service/text.ts";
import { asFields, defined, type Fields } from "../../../shared/service/fields.ts";
import { toOpenAIError } from "./error_shape.ts";

/** The fields of a completion that do not come from the reply. */
interface CompletionFrame {
  /** `chatcmpl-…`, the same for all chunks of a stream. */
  id: string;
  /** Seconds since 1970. */
  created: number;
  model: string;
}

/** The id is generated: a run has several ids of the provider, one per model call. */
export function createFrame(model: string): CompletionFrame {
  const created = Math.floor(Date.now() / 1000);
  return { id: `chatcmpl-${randomHex()}`, created, model };
}

/** The body of a completion that is not streamed. */
export function toCompletion(
  reply: ChatReply,
  { frame, usage, toolEvents }: {
    frame: CompletionFrame;
    usage: CompletionUsage | null;
    toolEvents?: ToolEvent[] | undefined;
  },
) {
  const { id, created, model } = frame;
  const thoughts = reasoningOf(reply); // under one name, as in a stream, whatever the provider's is
  const message = {
    role: "assistant",
    content: reply.content,
    refusal: reply.refusal,
    reasoning_content: thoughts || undefined,
    ...toSentFields(reply),
    tool_calls: reply.toolCalls.length > 0 ? reply.toolCalls.map(toToolCall) : undefined,
    tool_events: toolEvents,
  };
  return {
    ...reply.answerExtra,
    id,
    object: "chat.completion",
    created,
    model,
    choices: [{
      ...reply.choiceExtra,
      index: 0,
      message,
      logprobs: reply.logprobs,
      finish_reason: reply.finishReason ?? "stop",
    }],
    usage: usage ?? undefined,
    system_fingerprint: reply.systemFingerprint,
    service_tier: reply.serviceTier,
  };
}

/** One chunk of a streamed completion. The last one carries the log probabilities of all tokens. */
export function toChunk(
  { id, created, model }: CompletionFrame,
  { delta = {}, finishReason = null, logprobs = null }: {
    delta?: unknown;
    finishReason?: string | null;
    logprobs?: ChatReply["logprobs"];
  },
) {
  return {
    id,
    object: "chat.completion.chunk",
    created,
    model,
    choices: [{ index: 0, delta, logprobs, finish_reason: finishReason }],
  };
}

/** The chunk after the last one, with only the usage. */
export function toUsageChunk({ id, created, model }: CompletionFrame, usage: CompletionUsage) {
  return { id, object: "chat.completion.chunk", created, model, choices: [], usage };
}

function toToolCall(call: ToolCall) {
  return toToolCallParam(call, call.extra);
}

/** Token counts under OpenAI's names, and further fields of the provider. */
export interface CompletionUsage {
  [name: string]: unknown;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: Record<string, number> | undefined;
  completion_tokens_details?: Record<string, number> | undefined;
}

const hasAny = (counts: object) => Object.keys(counts).length > 0;

/** The usage of all model calls of a run; `null` if the provider has sent none. */
export function runUsage(report: RunReport): CompletionUsage | null {
  const { inputTokens, outputTokens, inputDetails, outputDetails, usageExtra } = report;
  if (inputTokens + outputTokens === 0) return null;
  return {
    ...usageExtra,
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: hasAny(inputDetails) ? inputDetails : undefined,
    completion_tokens_details: hasAny(outputDetails) ? outputDetails : undefined,
  };
}

/**
 * The run's last reply. Its calls are those that wait for the caller: a reply at the step limit may
 * still call the agent's own tools, and the client could not answer such a call. Some providers end a
 * reply without calls with `tool_calls`, and a client would look for them.
 */
export function lastReply({ reply, pending }: RunReport): ChatReply {
  if (pending) return reply;
  const { content, toolCalls, finishReason } = reply;
  const endsWithCalls = finishReason === "tool_calls" || finishReason === "function_call";
  if (toolCalls.length === 0 && !endsWithCalls) return reply;
  return { ...reply, content: content ?? "", toolCalls: [], finishReason: "stop" };
}

/**
 * Leaves out the text that accompanies calls of the agent's own tools, for a caller that wants JSON:
 * in a stream it would precede the JSON, and no client could parse the whole. Text that begins like
 * JSON is passed on at once. Other text is held until it is known whether the turn calls a tool.
 */
export function withoutAsides(encoder: RunEncoder): RunEncoder {
  let held: AgentEvent[] = [];
  /** What the text of this turn is, once it is known. */
  let kind: "json" | "other" | undefined;

  function release(): AgentEvent[] {
    return held.splice(0);
  }

  function pass(event: AgentEvent): AgentEvent[] {
    if (event.type === "token") {
      if (event.text.trim()) kind ??= /^\s*[{[]/.test(event.text) ? "json" : "other";
      held.push(event);
      return kind === "json" ? release() : [];
    }
    if (event.type === "tool_call") {
      held = [];
      kind = undefined;
    }
    return event.type === "call" ? [...release(), event] : [event];
  }

  return {
    ...encoder,
    event: (event) => pass(event).flatMap(encoder.event),
    finish: (ended) => [...release().flatMap(encoder.event), ...encoder.finish(ended)],
  };
}

/** Writes a run as the chunks of a completion. A failure is a chunk with `error`, at which OpenAI's clients throw. */
export function createCompletionEncoder(
  { model, requestId, includeUsage, showTools }: {
    /** The model that answered, or that is being asked now. */
    model: () => string;
    requestId: string;
    /** The caller asked for a last chunk with the token counts. */
    includeUsage: boolean;
    /** The caller asked for the tool calls and their results. */
    showTools: boolean;
  },
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
  return defined({
    ...sent,
    refusal: refusal || undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
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
