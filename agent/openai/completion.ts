import type { ChatReply, ChatUsage, ToolCall } from "../../shared/providers/provider.ts";
import type { AgentEvent } from "../run/events.ts";
import type { RunReport } from "../run/runner.ts";

/** What a completion needs beside the reply. */
export interface CompletionFrame {
  /** `chatcmpl-…`, one for all the chunks of a stream. */
  id: string;
  /** Seconds since 1970. */
  created: number;
  model: string;
}

/** The ids of completions are ours: a run has several of the provider's. */
export function createFrame(model: string): CompletionFrame {
  const created = Math.floor(Date.now() / 1000);
  return { id: `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`, created, model };
}

/** A reply as the body of a completion that is not streamed. */
export function toCompletion(
  reply: ChatReply,
  { frame, usage, toolEvents }: {
    frame: CompletionFrame;
    usage: CompletionUsage | null;
    toolEvents?: AgentEvent[] | undefined;
  },
) {
  const { id, created, model } = frame;
  const message = {
    role: "assistant",
    content: reply.content,
    refusal: reply.refusal,
    ...(reply.toolCalls.length > 0 && { tool_calls: reply.toolCalls.map(toToolCall) }),
    ...(toolEvents && { tool_events: toolEvents }),
  };
  return {
    id,
    object: "chat.completion",
    created,
    model,
    choices: [{
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

/** One chunk of a streamed completion. The last one has the log probabilities of all tokens. */
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

/** The chunk that carries only the usage, last of all. */
export function toUsageChunk({ id, created, model }: CompletionFrame, usage: CompletionUsage) {
  return { id, object: "chat.completion.chunk", created, model, choices: [], usage };
}

export function toToolCall({ id, name, arguments: text }: ToolCall) {
  return { id, type: "function", function: { name, arguments: text } };
}

/** Token counts as OpenAI spells them. */
export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: Record<string, number>;
  completion_tokens_details?: Record<string, number>;
}

/** All that a run used, over all its model calls. */
export function runUsage({ inputTokens, outputTokens }: RunReport): CompletionUsage {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** What one model call used. */
export function callUsage(usage: ChatUsage): CompletionUsage {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(usage.promptDetails && { prompt_tokens_details: usage.promptDetails }),
    ...(usage.completionDetails && { completion_tokens_details: usage.completionDetails }),
  };
}

/**
 * The agent's last reply as a completion shows it: a call of the agent's own tools that was left
 * over at the step limit is none of the client's.
 */
export function withoutCalls(reply: ChatReply): ChatReply {
  if (reply.toolCalls.length === 0) return reply;
  return { ...reply, content: reply.content ?? "", toolCalls: [], finishReason: "stop" };
}
