import { textOf } from "../../shared/providers/content.ts";
import { asFields, asList, asText, isFields } from "../../shared/fields.ts";
import { parseToolCall } from "../../shared/providers/openai_messages.ts";
import type { ChatContent, ChatMessage, ToolCall } from "../../shared/providers/provider.ts";
import type { AgentMessage } from "../schemas/agent.ts";
import { readSentFields } from "./sent_fields.ts";

/** A tool's result as callers send it: it need not name the call that it answers. */
export interface ToolResultMessage {
  role: "tool";
  content: ChatContent;
  toolCallId?: string | undefined;
  /** Of the tool. */
  name?: string | undefined;
}

/** A message of a caller's conversation, before `buildHistory` has repaired it. */
export type CallerMessage = Exclude<ChatMessage, { role: "tool" }> | ToolResultMessage;

/** The conversation of `POST /`. */
export function toCallerMessages(messages: AgentMessage[]): CallerMessage[] {
  return messages.map((message): CallerMessage => {
    const { content } = message;
    if (message.type === "human") return { role: "user", content };
    if (message.type === "ai") return toAssistantMessage(message);
    const toolCallId = asText(message.tool_call_id) ?? undefined;
    return { role: "tool", content, toolCallId, name: message.name ?? undefined };
  });
}

/** The names in `additional_kwargs` that are not fields of the provider. */
const KNOWN: ReadonlySet<string> = new Set(["tool_calls", "function_call", "refusal"]);

/**
 * An earlier reply of `POST /`. What its provider sent beside the text is in `additional_kwargs`.
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
