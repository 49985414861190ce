import { extendAddress } from "../../shared/http/outgoing_fetch.ts";
import { ADAPTATIONS } from "../../shared/providers/adaptations.ts";
import { createAdaptedAttempts, tryRequests } from "../../shared/providers/adapted_requests.ts";
import { reasoningOf } from "../../shared/providers/content.ts";
import { toCompletionParams } from "../../shared/providers/openai_messages.ts";
import { readAnyReply } from "../../shared/providers/openai_answer.ts";
import type { ChatMessage, ChatReply, ChatRequest } from "../../shared/providers/provider.ts";
import type { ModelParameters } from "../test/evaluate_request.ts";
import type { Answered, EndpointClient } from "./client.ts";
import { COMPLETIONS_PATH, withoutQuery } from "./endpoint_address.ts";
import {
  filteredReply,
  readPendingCalls,
  readToolEvents,
  type TargetReply,
  TOOL_EVENTS_HEADER,
  toTargetReply,
} from "./reply.ts";
import type { Dialect } from "./target.ts";

interface OpenAIDialectOptions {
  /** Without `/chat/completions`; a query is kept. */
  baseUrl: string;
  modelId: string;
  parameters: ModelParameters;
  /** Whether replies come with the tool calls of the endpoint. */
  observesTools?: boolean;
  /** Whether replies are streamed, to see when their first token comes. */
  streams?: boolean;
}

/** OpenAI's dialect: the model, the conversation and the parameters in the body. */
export function createOpenAIDialect(
  { baseUrl, modelId, parameters, observesTools = false, streams = false }: OpenAIDialectOptions,
  client: EndpointClient,
): Dialect {
  const { system_prompt, temperature, max_tokens, seed, ...extra } = parameters;
  const system: ChatMessage[] = system_prompt ? [{ role: "system", content: system_prompt }] : [];
  const settings = {
    model: modelId,
    ...(temperature !== undefined && { temperature }),
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(seed !== undefined && { seed }),
    extra,
  };
  // What is sent is what is tested: only the name of the limit may differ, and who counts tokens.
  const attempts = createAdaptedAttempts([ADAPTATIONS.newerLimit, ADAPTATIONS.streamUsage]);
  const url = extendAddress(baseUrl, COMPLETIONS_PATH);

  return {
    address: withoutQuery(url),
    async ask(conversation, signal) {
      const hasOwn = conversation[0]?.role === "system";
      const said = conversation.map(({ role, content, parts }) => ({
        role,
        content: parts ?? content,
      }));
      const messages = hasOwn ? said : [...system, ...said];
      const post = (request: ChatRequest) =>
        client.post({
          url,
          ...(observesTools && { headers: TOOL_EVENTS_HEADER }),
          body: { ...toCompletionParams(request), ...(streams && streamed(request)) },
          read: async (response, clock, sentAt) => {
            let firstTokenMs: number | undefined;
            const onDelta = () => firstTokenMs ??= Math.round(performance.now() - sentAt);
            const reply = await readAnyReply(response, { model: modelId, clock, onDelta });
            return { ...reply, firstTokenMs };
          },
        }, signal);
      try {
        const answered = await tryRequests({ ...settings, messages }, attempts, post);
        return readReply(answered, observesTools);
      } catch (error) {
        const filtered = filteredReply(error);
        if (filtered) return filtered;
        throw error;
      }
    },
  };
}

function streamed({ omitsUsage }: ChatRequest) {
  return { stream: true, ...(!omitsUsage && { stream_options: { include_usage: true } }) };
}

function readReply(
  { value: reply, latencyMs }: Answered<ChatReply & { firstTokenMs: number | undefined }>,
  observesTools: boolean,
): TargetReply {
  const { content, refusal, usage, finishReason, encoding, toolCalls, extra } = reply;
  return toTargetReply({
    content: content || refusal,
    reasoning: reasoningOf(reply),
    calls: toolCalls.map(({ name }) => name),
    finishReason,
    usage: usage && {
      input_tokens: usage.promptTokens,
      output_tokens: usage.completionTokens,
      total_tokens: usage.totalTokens,
    },
    encoding,
    latencyMs,
    firstTokenMs: reply.firstTokenMs,
    cachedInputTokens: usage?.promptDetails?.cached_tokens,
    toolCalls: observesTools ? readToolEvents(extra) ?? readPendingCalls(toolCalls) : undefined,
  });
}
