import { unsupportedField } from "../../shared/errors.ts";
import { textOf, withNameInText } from "../../shared/providers/content.ts";
import { pickExtra } from "../../shared/providers/extra_fields.ts";
import { asFields, asText } from "../../shared/fields.ts";
import {
  KNOWN_FIELDS,
  parseToolCall,
  toMessageParam,
} from "../../shared/providers/openai_messages.ts";
import type { ChatMessage, ChatRequest, ToolDefinition } from "../../shared/providers/provider.ts";
import type { CompletionMessage, CompletionRequest } from "../schemas/chat_completion.ts";
import type { CallerMessage } from "../run/conversation.ts";
import type { AgentSettings } from "../run/model_request.ts";
import { readSentFields } from "../run/sent_fields.ts";
import { readToolFields, readTools } from "./read_tools.ts";
import { toPlainFields, toSettings } from "./settings.ts";

/** An OpenAI request as input of a run. */
export interface AgentConversation {
  messages: CallerMessage[];
  /** The system messages that it begins with; they replace the service's own prompt. */
  systemPrompt: string | undefined;
  settings: Partial<AgentSettings>;
  callerTools: ToolDefinition[];
}

/** Throws 400 if the caller wants several choices, or has tools that the agent cannot offer. */
export function toConversation(body: CompletionRequest): AgentConversation {
  refuseChoices(body);
  const { messages } = body;
  const first = messages.findIndex((message) => !isSystem(message));
  const start = first < 0 ? messages.length : first;
  const system = messages.slice(0, start)
    .map((message) => textOf(withNameInText(toCallerMessage(message)).content));
  return {
    messages: messages.slice(start).map(toCallerMessage),
    systemPrompt: system.length > 0 ? system.join("\n\n") : undefined,
    settings: { ...toSettings(body), ...readToolFields(body) },
    callerTools: readTools(body),
  };
}

/**
 * The same request for the provider alone, without the agent: every field is passed on. The messages
 * go as they are (`raw`), but for those that carry fields of our own answers.
 */
export function toPlainRequest(body: CompletionRequest, raw?: unknown[]): ChatRequest {
  const { model } = body;
  const messages = body.messages.map(toChatMessage);
  const rawMessages = raw?.map((message, index) => {
    const isOurs = "from_model" in asFields(message);
    return isOurs ? toMessageParam(messages[index]!, model) : message;
  });
  return {
    model,
    messages,
    extra: toPlainFields(body),
    ...(rawMessages && { rawMessages }),
  };
}

function refuseChoices({ n }: CompletionRequest): void {
  if ((n ?? 1) === 1) return;
  throw unsupportedField(
    "n",
    "the agent gives one choice; for more from the model alone, send the header " +
      "x-agent-tools: off, or end the model id with :plain",
  );
}

function toCallerMessage(message: CompletionMessage): CallerMessage {
  const said = toChatMessage(message);
  return said.role === "tool" ? { ...said, name: asText(message.name) ?? undefined } : said;
}

function toChatMessage(message: CompletionMessage): ChatMessage {
  const { content } = message;
  if (message.role === "tool") return { role: "tool", content, toolCallId: message.tool_call_id };
  if (message.role === "function") return { role: "tool", content, toolCallId: message.name };
  if (message.role === "assistant") return toAssistantMessage(message);
  const extra = pickExtra(message, SAID);
  return { role: isSystem(message) ? "system" : "user", content, ...(extra && { extra }) };
}

/** The fields of a user's or a system message that are read here. */
const SAID: ReadonlySet<string> = new Set(["role", "content"]);

/** With the fields that its provider sent. Without `from_model` they belong to the model asked. */
function toAssistantMessage(message: Extract<CompletionMessage, { role: "assistant" }>) {
  const toolCalls = (message.tool_calls ?? []).map(parseToolCall);
  return {
    role: "assistant" as const,
    ...readSentFields(message, { known: KNOWN_FIELDS, content: message.content }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function isSystem({ role }: CompletionMessage): boolean {
  return role === "system" || role === "developer";
}
