import { textOf } from "../../shared/providers/content.ts";
import { KNOWN_FIELDS, parseToolCall } from "../../shared/providers/openai_messages.ts";
import type { ChatMessage, ChatRequest } from "../../shared/providers/provider.ts";
import type { CompletionMessage, CompletionRequest } from "../../shared/schemas/chat_completion.ts";
import type { CallerMessage } from "../run/conversation.ts";
import type { AgentSettings } from "../run/graph.ts";
import { readSentFields } from "../run/sent_fields.ts";
import { unsupported } from "./error_shape.ts";
import { toPlainFields, toSettings } from "./settings.ts";

/** An OpenAI request as input of a run. */
export interface AgentConversation {
  messages: CallerMessage[];
  /** The caller's system messages; they replace the service's own prompt. */
  systemPrompt: string | undefined;
  settings: Partial<AgentSettings>;
}

/** Throws 400 if the caller sends tools, because the agent uses its own, or wants several choices. */
export function toConversation(body: CompletionRequest): AgentConversation {
  refuseTools(body);
  refuseChoices(body);
  const system = body.messages.filter(isSystem).map(({ content }) => textOf(content));
  return {
    messages: body.messages.filter((message) => !isSystem(message)).map(toCallerMessage),
    systemPrompt: system.length > 0 ? system.join("\n\n") : undefined,
    settings: toSettings(body),
  };
}

/** The same request for the provider alone, without the agent: every field is passed on. */
export function toPlainRequest(body: CompletionRequest): ChatRequest {
  const { model, messages } = body;
  return { model, messages: messages.map(toChatMessage), extra: toPlainFields(body) };
}

function refuseTools({ tools, functions }: CompletionRequest): void {
  const path = tools?.length ? "tools" : functions?.length ? "functions" : undefined;
  if (!path) return;
  throw unsupported(
    path,
    "the agent uses its own; to use yours without the agent, send the header x-agent-tools: off, " +
      "or end the model id with :plain",
  );
}

function refuseChoices({ n }: CompletionRequest): void {
  if ((n ?? 1) === 1) return;
  throw unsupported(
    "n",
    "the agent gives one choice; for more from the model alone, send the header " +
      "x-agent-tools: off, or end the model id with :plain",
  );
}

function toCallerMessage(message: CompletionMessage): CallerMessage {
  const { content } = message;
  if (message.role === "tool") return { role: "tool", content, toolCallId: message.tool_call_id };
  return message.role === "assistant" ? toAssistantMessage(message) : { role: "user", content };
}

function toChatMessage(message: CompletionMessage): ChatMessage {
  const { content } = message;
  if (message.role === "tool") return { role: "tool", content, toolCallId: message.tool_call_id };
  if (message.role === "assistant") return toAssistantMessage(message);
  return { role: message.role === "user" ? "user" : "system", content };
}

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
