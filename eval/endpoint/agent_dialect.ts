import { z } from "zod";
import type { AboutAnswer, EndpointClient } from "./client.ts";
import { withoutQuery } from "./endpoint_address.ts";
import { type TargetReply, toTargetReply } from "./reply.ts";
import { readMessageCalls, readToolEvents, TOOL_EVENTS_HEADER } from "./tool_events.ts";
import type { ConversationMessage, Dialect } from "./target.ts";

/** The part of the agent's answer that an evaluation reads. */
const Reply = z.object({
  content: z.union([z.string(), z.array(z.unknown())]),
  additional_kwargs: z.looseObject({ reasoning_content: z.string().nullish() }).nullish()
    .catch(null),
  response_metadata: z.looseObject({ finish_reason: z.string().nullish() }).nullish().catch(null),
  tool_calls: z.array(z.looseObject({ name: z.string() })).nullish().catch(null),
  usage_metadata: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    total_tokens: z.number(),
    input_token_details: z.looseObject({ cache_read: z.number().optional() }).optional()
      .catch(undefined),
  }).nullish().catch(null),
});

/** The dialect of an agent backend: the model in `x-model-id`, the conversation in `messages`. */
export function createAgentDialect(
  { url, modelId, observesTools = false }: {
    url: string;
    modelId: string;
    /** Whether replies come with the tool calls of the agent. */
    observesTools?: boolean;
  },
  client: EndpointClient,
): Dialect {
  return {
    address: withoutQuery(url),
    ask: (conversation, signal) =>
      client.post({
        url,
        headers: { "x-model-id": modelId, ...(observesTools && TOOL_EVENTS_HEADER) },
        body: { messages: conversation.filter(({ role }) => role !== "system").map(toMessage) },
        read: (answer, about) => readReply(answer, { ...about, observesTools }),
      }, signal),
  };
}

function toMessage({ role, content }: ConversationMessage) {
  return { type: role === "user" ? "human" : "ai", content };
}

function readReply(
  answer: unknown,
  { encoding, latencyMs, observesTools }: AboutAnswer & { observesTools: boolean },
): TargetReply | undefined {
  const { data } = Reply.safeParse(answer);
  if (!data) return undefined;
  const { input_token_details: details, ...tokens } = data.usage_metadata ?? {};
  const usage = "input_tokens" in tokens ? tokens : null;
  return toTargetReply({
    content: data.content,
    reasoning: data.additional_kwargs?.reasoning_content,
    calls: data.tool_calls?.map(({ name }) => name) ?? [],
    finishReason: data.response_metadata?.finish_reason ?? null,
    usage,
    encoding,
    latencyMs,
    cachedInputTokens: details?.cache_read,
    toolCalls: observesTools ? readToolEvents(answer) ?? readMessageCalls(answer) : undefined,
  });
}
