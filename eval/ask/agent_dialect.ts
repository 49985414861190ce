import { z } from "zod";
import { isPlainShape, tryParseJson } from "../../shared/service/fields.ts";
import type { DecodedAnswer } from "../../shared/providers/provider.ts";
import { hiddenFailure, readAnswer } from "../../shared/providers/openai_answer.ts";
import { CallFailure } from "../../shared/providers/diagnosis.ts";
import { readServerSentEvents } from "../../shared/providers/server_sent_events.ts";
import type { EndpointClient } from "./client.ts";
import { withoutQuery } from "./endpoint_address.ts";
import {
  type RawReply,
  readMessageCalls,
  readToolEvents,
  TOOL_EVENTS_HEADER,
  toTargetReply,
} from "./reply.ts";
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
    async ask(conversation, signal) {
      const { value, latencyMs } = await client.post({
        url,
        headers: { "x-model-id": modelId, ...(observesTools && TOOL_EVENTS_HEADER) },
        body: { messages: conversation.filter(({ role }) => role !== "system").map(toMessage) },
        read: (response) => readMessage(response, (answer) => parseReply(answer, observesTools)),
      }, signal);
      return toTargetReply({ ...value, latencyMs });
    },
  };
}

/** Some agents answer with events although none were asked for: the first reply among them counts. */
async function readMessage<T>(
  response: Response,
  parse: (answer: DecodedAnswer) => T | undefined,
): Promise<T> {
  if (!/^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "")) {
    return await readAnswer(response, parse);
  }
  for await (const data of readServerSentEvents(response.body ?? new Blob().stream())) {
    const value = isPlainShape(data) ? tryParseJson(data) : undefined;
    const failure = hiddenFailure(response, value);
    if (failure) throw failure;
    const reply = parse({ value });
    if (reply) return reply;
  }
  throw new CallFailure({ failure: { kind: "interrupted" } });
}

function toMessage({ role, content, parts }: ConversationMessage) {
  return { type: role === "user" ? "human" : "ai", content: parts ?? content };
}

function parseReply(
  { value, encoding }: DecodedAnswer,
  observesTools: boolean,
): Omit<RawReply, "latencyMs"> | undefined {
  const { data } = Reply.safeParse(value);
  if (!data) return undefined;
  const { input_token_details: details, ...tokens } = data.usage_metadata ?? {};
  const usage = "input_tokens" in tokens ? tokens : null;
  return {
    content: data.content,
    reasoning: data.additional_kwargs?.reasoning_content,
    calls: data.tool_calls?.map(({ name }) => name) ?? [],
    finishReason: data.response_metadata?.finish_reason ?? null,
    usage,
    encoding,
    cachedInputTokens: details?.cache_read,
    toolCalls: observesTools ? readToolEvents(value) ?? readMessageCalls(value) : undefined,
  };
}
