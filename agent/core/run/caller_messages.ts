import {
  pickExtra,
  pickParts,
  textOf,
  thoughtOf,
  withNameInText,
} from "../../../shared/providers/content.ts";
import { asFields, asList, asText, defined, isFields } from "../../../shared/service/fields.ts";
import { parseToolCall } from "../../../shared/providers/openai_messages.ts";
import type {
  ChatContent,
  ChatMessage,
  ChatReply,
  ContentPart,
  ExtraFields,
  ToolCall,
} from "../../../shared/providers/provider.ts";
import type { AgentMessage } from "../agent_message.ts";

/** A tool's result as callers send it: it need not name the call that it answers. */
export interface ToolResultMessage {
  role: "tool";
  content: ChatContent;
  toolCallId?: string | undefined;
  /** Of the tool. */
  name?: string | undefined;
  images?: ContentPart[];
}

/** A message of a caller's conversation, before `buildHistory` has repaired it. */
export type CallerMessage = Exclude<ChatMessage, { role: "tool" }> | ToolResultMessage;

/**
 * Separates the system messages that a conversation begins with: their text, with the names of their
 * authors, becomes the system prompt. `undefined` if there are none.
 */
export function splitPrompt<Message extends CallerMessage>(
  messages: Message[],
): { systemPrompt: string | undefined; rest: Message[] } {
  const first = messages.findIndex(({ role }) => role !== "system");
  const count = first < 0 ? messages.length : first;
  const prompts = messages.slice(0, count).map((message) =>
    textOf(withNameInText(message).content)
  );
  return {
    systemPrompt: count > 0 ? prompts.join("\n\n") : undefined,
    rest: messages.slice(count),
  };
}

/** The conversation of `POST /`. */
export function toCallerMessages(messages: AgentMessage[]): CallerMessage[] {
  return messages.map((message): CallerMessage => {
    const { content } = message;
    if (message.type === "human") return { role: "user", content };
    if (message.type === "system") return { role: "system", content };
    if (message.type === "ai") return toAssistantMessage(message);
    const toolCallId = asText(message.tool_call_id) ?? undefined;
    return { role: "tool", content, toolCallId, name: message.name ?? undefined };
  });
}

/** The names in `additional_kwargs` that are not fields of the provider. */
const KNOWN: ReadonlySet<string> = new Set(["tool_calls", "function_call", "refusal"]);

/**
 * An earlier reply of `POST /`. Further fields of its provider are in `additional_kwargs`.
 * Without `from_model` there it may come from anywhere, and providers refuse unknown fields: then
 * only text and calls are used.
 */
function toAssistantMessage(message: Extract<AgentMessage, { type: "ai" }>): CallerMessage {
  const kwargs = asFields(message.additional_kwargs);
  const content = textOf(message.content);
  const calls = readCalls(message.tool_calls, kwargs.tool_calls);
  const hasSender = asText(kwargs.from_model) !== null;
  const toolCalls = hasSender ? calls : calls.map(({ extra: _, ...call }) => call);
  return {
    role: "assistant",
    ...(hasSender ? readSentFields(kwargs, { known: KNOWN, content }) : { content }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** The provider's own form has all fields; without it, LangChain's form has name and arguments. */
function readCalls(calls: unknown, own: unknown): ToolCall[] {
  const raw = asList(own).filter(isFields);
  if (raw.length > 0) return raw.map(parseToolCall);
  return asList(calls).filter(isFields).map(({ id, name, args }) =>
    parseToolCall({ id, function: { name, arguments: asFields(args) } })
  );
}

/** In a streamed answer: the provider's name for the thoughts, which were sent under another. */
export const THOUGHTS_IN = "thoughts_in";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/**
 * Everything that a provider sent with a reply except its text and calls, as fields of the answer:
 * its own fields unchanged, its original content in `content_parts`, and the model that sent them in
 * `from_model`. Callers who send these back keep a reasoning model's thoughts in the conversation.
 */
export function toSentFields({ extra, parts, from }: ChatReply): ExtraFields {
  if (from === undefined) return {};
  return { ...extra, ...defined({ content_parts: parts }), from_model: from };
}

/**
 * Reads them from a message that a caller sends back. `known` are the names of the message's other
 * fields; `content` is used if there are no `content_parts`.
 */
export function readSentFields(
  fields: ExtraFields,
  { known, content }: { known: ReadonlySet<string>; content: ChatContent },
): Pick<AssistantMessage, "content" | "extra" | "from"> {
  const extra = pickExtra(fields, known.union(OWN_FIELDS));
  const from = asText(fields.from_model);
  const parts = pickParts(fields.content_parts);
  // Answers show all thoughts as `reasoning_content`; a provider gets back its own form alone.
  const isShownTwice = parts?.some(thoughtOf) || typeof extra?.reasoning === "string";
  if (from !== null && extra && fields[THOUGHTS_IN] === "reasoning") {
    extra.reasoning ??= extra.reasoning_content;
    delete extra.reasoning_content;
  }
  if (from !== null && isShownTwice) delete extra?.reasoning_content;
  return defined({ content: parts ?? content, extra, from: from ?? undefined });
}

const OWN_FIELDS: ReadonlySet<string> = new Set(["content_parts", "from_model", THOUGHTS_IN]);
