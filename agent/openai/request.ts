import type { ChatMessage, ChatRequest } from "../../shared/providers/provider.ts";
import type { AgentMessage } from "../../shared/schemas/agent.ts";
import type { CompletionMessage, CompletionRequest } from "../../shared/schemas/chat_completion.ts";
import type { AgentSettings } from "../run/graph.ts";
import { unsupported } from "./error_shape.ts";
import { toPlainFields, toSettings } from "./settings.ts";

/** An OpenAI request as input of a run. */
export interface AgentConversation {
  messages: AgentMessage[];
  /** The caller's system messages; they replace the service's own prompt. */
  systemPrompt: string | undefined;
  settings: Partial<AgentSettings>;
}

/** Throws 400 if the caller sends tools, because the agent uses its own, or wants several choices. */
export function toConversation(body: CompletionRequest): AgentConversation {
  refuseTools(body);
  refuseChoices(body);
  const system = body.messages.filter(isSystem).map(({ content }) => content);
  return {
    messages: toAgentMessages(body.messages.filter((message) => !isSystem(message))),
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

function toAgentMessages(messages: CompletionMessage[]): AgentMessage[] {
  const calls = new Map<string, { name: string; arguments: string }>();
  return messages.map((message): AgentMessage => {
    const { content } = message;
    if (message.role === "tool") {
      const call = calls.get(message.tool_call_id);
      return { type: "tool", content, ...call };
    }
    if (message.role !== "assistant") return { type: "human", content };
    for (const { id, function: called } of message.tool_calls ?? []) calls.set(id, called);
    return { type: "ai", content };
  });
}

function toChatMessage(message: CompletionMessage): ChatMessage {
  const { content } = message;
  if (message.role === "tool") return { role: "tool", content, toolCallId: message.tool_call_id };
  if (message.role === "user") return { role: "user", content };
  if (message.role !== "assistant") return { role: "system", content };
  const toolCalls = (message.tool_calls ?? []).map(({ id, function: called }) => ({
    id,
    name: called.name,
    arguments: called.arguments,
  }));
  return { role: "assistant", content, ...(toolCalls.length > 0 && { toolCalls }) };
}

function isSystem({ role }: CompletionMessage): boolean {
  return role === "system" || role === "developer";
}
