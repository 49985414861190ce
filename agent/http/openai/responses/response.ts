import { isTruncated } from "../../../../shared/providers/openai_messages.ts";
import type { ChatReply } from "../../../../shared/providers/provider.ts";
import type { Fields } from "../../../../shared/service/fields.ts";
import type { ResponsesRequest } from "../../schemas/responses.ts";
import { type CompletionUsage, lastReply, runUsage } from "../completion.ts";
import {
  addReply,
  createResponseOutput,
  type OutputItem,
  type ResponseEvent,
  tokensOf,
} from "./output.ts";
import { randomHex } from "../../../../shared/service/text.ts";
import { type RunEncoder, toAccount } from "../../answer/run_request.ts";
import type { OutgoingEvent } from "../../answer/event_stream.ts";
import { toOpenAIError } from "../error_shape.ts";

/** The fields of a response that do not change while it grows. */
interface ResponseFrame {
  /** `resp_…`. */
  id: string;
  /** Seconds since 1970. */
  createdAt: number;
  /** The caller's, which the response repeats in part. */
  request: ResponsesRequest;
}

export function createResponseFrame(request: ResponsesRequest): ResponseFrame {
  const id = `resp_${randomHex()}`;
  return { id, createdAt: Math.floor(Date.now() / 1000), request };
}

interface ResponseState {
  model: string;
  status: "in_progress" | "completed" | "incomplete" | "failed";
  output: OutputItem[];
  usage?: CompletionUsage | null;
  serviceTier?: string | null;
  /** What the provider sent with the answer, as it came. */
  extra?: Fields | undefined;
  /** Why it is incomplete. */
  reason?: string | undefined;
  error?: { code: string | null; message: string };
}

/** The body of a response in OpenAI's shape, finished or not. */
export function toResponse({ id, createdAt, request }: ResponseFrame, state: ResponseState) {
  const { model, status, output, usage, serviceTier, reason, error } = state;
  return {
    ...state.extra,
    id,
    object: "response",
    created_at: createdAt,
    status,
    background: false,
    completed_at: status === "completed" ? Math.floor(Date.now() / 1000) : null,
    error: error ?? null,
    incomplete_details: reason ? { reason } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model,
    output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    // Numbers where OpenAI has defaults: strict clients expect no null.
    frequency_penalty: request.frequency_penalty ?? 0,
    max_tool_calls: request.max_tool_calls ?? null,
    presence_penalty: request.presence_penalty ?? 0,
    prompt_cache_key: request.prompt_cache_key ?? null,
    safety_identifier: request.safety_identifier ?? null,
    service_tier: serviceTier ?? "default",
    store: false,
    temperature: request.temperature ?? 1,
    text: { ...request.text, format: request.text?.format ?? { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: (request.tools ?? []).map((tool) => ({ ...TOOL, ...tool })),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: "disabled",
    usage: usage ? toResponseUsage(usage) : null,
    metadata: request.metadata ?? {},
  };
}

/** What a function of a response has at least. */
const TOOL = { description: null, parameters: null, strict: null };

/** How a reply ends a response: whole, or cut off for a reason. */
export function toEnd({ finishReason }: ChatReply): Pick<ResponseState, "status" | "reason"> {
  if (isTruncated(finishReason)) return { status: "incomplete", reason: "max_output_tokens" };
  if (finishReason === "content_filter") return { status: "incomplete", reason: finishReason };
  return { status: "completed" };
}

/** What came with a reply, for its response. */
export function answerFields(
  { serviceTier, answerExtra, choiceExtra }: ChatReply,
) {
  return { serviceTier, extra: { ...answerExtra, ...choiceExtra } };
}

/** The details are always set: some clients read them without a check. */
function toResponseUsage(usage: CompletionUsage) {
  const { prompt_tokens, completion_tokens, total_tokens, ...details } = usage;
  const { prompt_tokens_details: input, completion_tokens_details: output, ...more } = details;
  return {
    ...more,
    input_tokens: prompt_tokens,
    input_tokens_details: { ...input, cached_tokens: input?.cached_tokens ?? 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { ...output, reasoning_tokens: output?.reasoning_tokens ?? 0 },
    total_tokens,
  };
}

/**
 * Writes a run as the events of a response. A failure is an `error` event, at which OpenAI's clients
 * throw, then `response.failed`.
 */
export function createResponseEncoder(
  { frame, model, requestId, sealsReasoning, onOutput }: {
    frame: ResponseFrame;
    /** The model that answered, or that is being asked now. */
    model: () => string;
    requestId: string;
    /** The caller asked for `encrypted_content`, with which it can send reasoning back. */
    sealsReasoning: boolean;
    /** Gets the output of a response that has ended well; see `toKept`. */
    onOutput(items: OutputItem[]): void;
  },
): RunEncoder {
  let count = 0;
  let events: OutgoingEvent[] = [];
  const stateOf = (state: Partial<ResponseState>) =>
    toResponse(frame, { model: model(), status: "in_progress", output: [], ...state });

  function send({ type, ...fields }: ResponseEvent): void {
    const data = { type, sequence_number: count++, ...fields };
    events.push({ event: type, data: JSON.stringify(data) });
  }

  /** Announces the response with its first event: a failure before it sets the status. */
  function begin(): void {
    if (count > 0) return;
    send({ type: "response.created", response: stateOf({}) });
    send({ type: "response.in_progress", response: stateOf({}) });
  }

  function take(): OutgoingEvent[] {
    const taken = events;
    events = [];
    return taken;
  }

  const output = createResponseOutput({
    sealsReasoning,
    send(event) {
      begin();
      send(event);
    },
  });
  return {
    event(event) {
      if (event.type === "token") output.addText(event.text, tokensOf(event.logprobs));
      else if (event.type === "call") output.addCall(event);
      else if (event.type === "reasoning") output.addReasoning(event.text);
      // Text before and after the agent's own tool calls are two messages.
      else output.endText();
      return take();
    },
    finish(ended) {
      const reply = lastReply(ended.report);
      const end = toEnd(reply);
      addReply(output, reply, { ...end, isStreamed: true });
      onOutput(output.toKept());
      const usage = runUsage(ended.report);
      const state = { ...end, output: output.items, usage, ...answerFields(reply) };
      const response = { ...stateOf(state), agent: toAccount(ended) };
      send({ type: `response.${end.status}`, response });
      return take();
    },
    fail(thrown) {
      const { code, message, param } = toOpenAIError(thrown, requestId).error;
      send({ type: "error", code, message, param });
      send({
        type: "response.failed",
        response: stateOf({ status: "failed", error: { code, message } }),
      });
      return take();
    },
  };
}
