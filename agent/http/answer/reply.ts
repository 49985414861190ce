import type { Fields } from "../../../shared/service/fields.ts";
import { parseToolArguments, toToolCallParam } from "../../../shared/providers/openai_messages.ts";
import type { ChatReply, ChatUsage, ToolCall } from "../../../shared/providers/provider.ts";
import type { AgentReply, ReplyInvalidToolCall, ReplyToolCall } from "../../core/agent_message.ts";
import { toSentFields } from "../../core/run/caller_messages.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { toProblem } from "../../../shared/http/answer.ts";
import { noteFailure } from "../../../shared/http/router.ts";
import { type RunEncoder, runHeaders, streamRun, toAccount } from "./run_request.ts";
import { eventStreamResponse, openEventStream, type StreamOptions } from "./event_stream.ts";
import type { PreparedRun } from "../../core/run/runner.ts";

const NO_USAGE: ChatUsage = {
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  promptDetails: null,
  completionDetails: null,
};

/**
 * A provider's answer in the shape of a LangChain AI message, which clients of the agent expect,
 * with its keys in LangChain's order. The id is generated here: providers may repeat theirs.
 */
export function toAgentReply(reply: ChatReply): AgentReply {
  const usage = reply.usage ?? NO_USAGE;
  const counts = { ...usage.extra, ...usage.promptDetails };
  const { toolCalls, invalidToolCalls } = sortToolCalls(reply.toolCalls);
  return {
    content: reply.content ?? "",
    additional_kwargs: {
      tool_calls: reply.toolCalls.length > 0
        ? reply.toolCalls.map((call) => toToolCallParam(call, call.extra))
        : undefined,
      refusal: reply.refusal,
      ...toSentFields(reply),
    },
    response_metadata: {
      ...reply.answerExtra,
      ...reply.choiceExtra,
      token_usage: {
        ...usage.extra,
        completion_tokens: usage.completionTokens,
        prompt_tokens: usage.promptTokens,
        total_tokens: usage.totalTokens,
        completion_tokens_details: usage.completionDetails,
        prompt_tokens_details: usage.promptDetails,
      },
      model_name: reply.model,
      system_fingerprint: reply.systemFingerprint,
      id: reply.id,
      service_tier: reply.serviceTier,
      finish_reason: reply.finishReason,
      logprobs: reply.logprobs,
    },
    type: "ai",
    name: null,
    id: `run--${crypto.randomUUID()}-0`,
    example: false,
    tool_calls: toolCalls,
    invalid_tool_calls: invalidToolCalls,
    usage_metadata: {
      input_tokens: usage.promptTokens,
      output_tokens: usage.completionTokens,
      total_tokens: usage.totalTokens,
      input_token_details: pick(counts, {
        audio: ["audio_tokens"],
        cache_read: ["cached_tokens", "cache_read_input_tokens"],
        cache_creation: [
          "cache_write_tokens",
          "cache_creation_tokens",
          "cache_creation_input_tokens",
        ],
      }),
      output_token_details: pick(usage.completionDetails, {
        audio: ["audio_tokens"],
        reasoning: ["reasoning_tokens"],
      }),
    },
  };
}

function sortToolCalls(calls: ToolCall[]) {
  const toolCalls: ReplyToolCall[] = [];
  const invalidToolCalls: ReplyInvalidToolCall[] = [];
  for (const { id, name, arguments: text } of calls) {
    const args = parseToolArguments(text);
    if (args) toolCalls.push({ name, args, id, type: "tool_call" });
    else {
      const error = `the arguments of ${name} are not a JSON object`;
      invalidToolCalls.push({ name, args: text, id, error, type: "invalid_tool_call" });
    }
  }
  return { toolCalls, invalidToolCalls };
}

/**
 * The counts that the provider sent, under our names: `names` lists the provider names of each, in
 * order of preference. A 0 is kept; a count that was not sent is left out.
 */
function pick(details: Fields | null, names: Record<string, string[]>) {
  const picked: Record<string, number> = {};
  for (const [ours, theirs] of Object.entries(names)) {
    const value = theirs.map((name) => details?.[name]).find((count) => typeof count === "number");
    if (typeof value === "number") picked[ours] = value;
  }
  return picked;
}

/**
 * Answers with the events of a run: `token`, `reasoning`, `tool_call` and `tool_result` as they
 * come, then `message` with the body of the plain answer and `done` with what the run cost, or
 * `error` with the problem. If the run fails before the stream opens, the status is the problem's.
 */
export async function streamAnswer(
  run: PreparedRun,
  { headers, ...options }: StreamOptions & { headers?: Record<string, string> },
): Promise<Response> {
  const { signal, context } = options;
  const encode = (event: string, data: unknown) => ({ event, data: JSON.stringify(data) });
  const fail = (error: unknown) => [encode("error", toProblem(error, context.requestId))];
  const encoder: RunEncoder = {
    headers,
    // The calls that wait for the caller are in `message`.
    event: ({ type, ...data }) => type === "call" ? [] : [encode(type, data)],
    finish: (ended) => [
      encode("message", toAgentReply(ended.report.reply)),
      encode("done", toAccount(ended)),
    ],
    fail,
  };
  try {
    return await streamRun(run, encoder, options);
  } catch (error) {
    if (signal.aborted) throw error;
    const { status } = toProblem(error, context.requestId);
    if (status >= 500) noteFailure(error, context); // as the router does with any other answer
    const failed = await openEventStream(({ push }) => push(fail(error)[0]!), { signal });
    const told = error instanceof AppError ? error.headers : {};
    return eventStreamResponse(failed, {
      headers: { ...headers, ...runHeaders(run), ...told },
      status,
    });
  }
}
