import { extendAddress } from "../../shared/http/fetch/address.ts";
import type { DecodedAnswer } from "../../shared/http/body/utf8.ts";
import { asFields, asList } from "../../shared/fields.ts";
import { parseReply, toCompletionParams } from "../../shared/providers/openai_messages.ts";
import { type ChatMessage, ProviderError } from "../../shared/providers/provider.ts";
import type { ModelParameters } from "../schemas/evaluate_request.ts";
import type { AboutAnswer, EndpointClient } from "./client.ts";
import { COMPLETIONS_PATH, withoutQuery } from "./endpoint_address.ts";
import { type TargetReply, toTargetReply } from "./reply.ts";
import type { ConversationMessage, Dialect } from "./target.ts";
import { readPendingCalls, readToolEvents, TOOL_EVENTS_HEADER } from "./tool_events.ts";

export interface OpenAIDialectOptions {
  /** Without `/chat/completions`; a query is kept. */
  baseUrl: string;
  modelId: string;
  parameters: ModelParameters;
  /** Whether replies come with the tool calls of the endpoint. */
  observesTools?: boolean;
}

/** OpenAI's dialect: the model, the conversation and the parameters in the body. */
export function createOpenAIDialect(
  { baseUrl, modelId, parameters, observesTools = false }: OpenAIDialectOptions,
  client: EndpointClient,
): Dialect {
  const { system_prompt, temperature, max_tokens, seed } = parameters;
  const system: ChatMessage[] = system_prompt ? [{ role: "system", content: system_prompt }] : [];
  const settings = {
    model: modelId,
    ...(temperature !== undefined && { temperature }),
    ...(seed !== undefined && { seed }),
  };
  const olderLimit = max_tokens === undefined ? {} : { maxTokens: max_tokens };
  const laterLimit = { extra: { max_completion_tokens: max_tokens } };
  let limit: typeof olderLimit | typeof laterLimit = olderLimit;
  const url = extendAddress(baseUrl, COMPLETIONS_PATH);
  const address = withoutQuery(url);

  function post(conversation: ConversationMessage[], signal: AbortSignal) {
    const hasOwn = conversation[0]?.role === "system";
    const messages = hasOwn ? conversation : [...system, ...conversation];
    return client.post({
      url,
      ...(observesTools && { headers: TOOL_EVENTS_HEADER }),
      body: toCompletionParams({ ...settings, ...limit, messages }),
      read: (value, about) => readReply({ value, ...about }, { modelId, observesTools }),
    }, signal);
  }

  return {
    address,
    async ask(conversation, signal) {
      const sent = limit; // another call may be refused while this one is running
      try {
        return await post(conversation, signal);
      } catch (error) {
        if (max_tokens === undefined || sent === laterLimit || !wantsLaterLimit(error)) throw error;
        limit = laterLimit;
        return await post(conversation, signal);
      }
    },
  };
}

/** OpenAI's reasoning models refuse `max_tokens`, and name what they want instead. */
function wantsLaterLimit(error: unknown): boolean {
  return error instanceof ProviderError && error.failure.kind === "status" &&
    error.failure.status === 400 && error.message.includes("max_completion_tokens");
}

function readReply(
  answer: DecodedAnswer & AboutAnswer,
  { modelId, observesTools }: { modelId: string; observesTools: boolean },
): TargetReply | undefined {
  const reply = parseReply(answer, modelId);
  if (!reply) return undefined;
  const { refusal, usage, finishReason, encoding, toolCalls } = reply;
  const message = readMessage(answer.value);
  const { content, reasoning_content, reasoning } = message;
  return toTargetReply({
    content: content || refusal,
    reasoning: reasoning_content ?? reasoning,
    calls: toolCalls.map(({ name }) => name),
    finishReason,
    usage: usage && {
      input_tokens: usage.promptTokens,
      output_tokens: usage.completionTokens,
      total_tokens: usage.totalTokens,
    },
    encoding,
    latencyMs: answer.latencyMs,
    cachedInputTokens: usage?.promptDetails?.cached_tokens,
    toolCalls: observesTools ? readToolEvents(message) ?? readPendingCalls(toolCalls) : undefined,
  });
}

/** The message of the first choice. */
function readMessage(value: unknown): Record<string, unknown> {
  return asFields(asFields(asList(asFields(value).choices)[0]).message);
}
