import { reasoningOf } from "../../../shared/providers/content.ts";
import { toToolCallParam } from "../../../shared/providers/openai_messages.ts";
import type { ChatReply, ToolCall } from "../../../shared/providers/provider.ts";
import type { AgentEvent, ToolEvent } from "../../core/agent_message.ts";
import type { RunEncoder } from "../answer/run_request.ts";
import { toSentFields } from "../../core/run/caller_messages.ts";
import type { RunReport } from "../../core/run/runner.ts";
import { randomHex } from "../../../shared/service/text.ts";

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
    ...(thoughts && { reasoning_content: thoughts }),
    ...toSentFields(reply),
    ...(reply.toolCalls.length > 0 && { tool_calls: reply.toolCalls.map(toToolCall) }),
    ...(toolEvents && { tool_events: toolEvents }),
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
    ...(usage && { usage }),
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

export function toToolCall(call: ToolCall) {
  return toToolCallParam(call, call.extra);
}

/** Token counts under OpenAI's names, and further fields of the provider. */
export interface CompletionUsage {
  [name: string]: unknown;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: Record<string, number>;
  completion_tokens_details?: Record<string, number>;
}

/** The usage of all model calls of a run; `null` if the provider has sent none. */
export function runUsage(report: RunReport): CompletionUsage | null {
  const { inputTokens, outputTokens, inputDetails, outputDetails, usageExtra } = report;
  if (inputTokens + outputTokens === 0) return null;
  return {
    ...usageExtra,
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(Object.keys(inputDetails).length > 0 && { prompt_tokens_details: inputDetails }),
    ...(Object.keys(outputDetails).length > 0 && { completion_tokens_details: outputDetails }),
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
