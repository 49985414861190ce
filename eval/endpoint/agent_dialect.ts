import { z } from "zod";
import type { NOT_UTF8 } from "../../shared/http/utf8.ts";
import type { EndpointClient } from "./client.ts";
import { type ConversationMessage, type Dialect, withoutQuery } from "./target.ts";

/** The part of the agent's answer that an evaluation reads. */
const Reply = z.object({
  content: z.string(),
  usage_metadata: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    total_tokens: z.number(),
  }).nullish().catch(null),
});

/** The dialect of an agent backend: the model in `x-model-id`, the conversation in `messages`. */
export function createAgentDialect(
  { url, modelId }: { url: string; modelId: string },
  client: EndpointClient,
): Dialect {
  return {
    address: withoutQuery(url),
    ask: (conversation, signal) =>
      client.post({
        url,
        headers: { "x-model-id": modelId },
        body: { messages: conversation.map(toMessage) },
        read: readReply,
      }, signal),
  };
}

function toMessage({ role, content }: ConversationMessage) {
  return { type: role === "user" ? "human" : "ai", content };
}

function readReply(answer: unknown, encoding?: typeof NOT_UTF8) {
  const { data } = Reply.safeParse(answer);
  if (!data) return undefined;
  const { content, usage_metadata: usage = null } = data;
  return { content, usage, ...(encoding && { encoding }) };
}
