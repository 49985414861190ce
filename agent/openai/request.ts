import { AppError } from "../../shared/errors.ts";
import type { ChatMessage, ChatRequest } from "../../shared/providers/provider.ts";
import type { AgentMessage } from "../../shared/schemas/agent.ts";
import type { CompletionMessage, CompletionRequest } from "../../shared/schemas/chat_completion.ts";
import type { AgentSettings } from "../run/graph.ts";

/** Fields that are sent to the provider unchanged, with every model call of a run. */
const PASSED_ON = [
  "stop",
  "seed",
  "response_format",
  "user",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "max_completion_tokens",
  "reasoning_effort",
  "service_tier",
];

/** An OpenAI request as input of a run. */
export interface AgentConversation {
  messages: AgentMessage[];
  /** The caller's system messages; they replace the service's own prompt. */
  systemPrompt: string | undefined;
  settings: Partial<AgentSettings>;
}

/** Throws 400 if the caller sends tools: the agent uses its own. */
export function toConversation(body: CompletionRequest): AgentConversation {
  refuseTools(body);
  const system = body.messages.filter(isSystem).map(({ content }) => content);
  const { temperature, max_tokens } = body;
  const extra = Object.fromEntries(
    PASSED_ON.filter((name) => isSet(body[name])).map((name) => [name, body[name]]),
  );
  return {
    messages: toAgentMessages(body.messages.filter((message) => !isSystem(message))),
    systemPrompt: system.length > 0 ? system.join("\n\n") : undefined,
    settings: {
      ...(isSet(temperature) && { temperature }),
      ...(isSet(max_tokens) && { maxTokens: max_tokens }),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
  };
}

/** The same request for the provider alone, without the agent: every field is passed on. */
export function toPlainRequest(body: CompletionRequest): ChatRequest {
  const { messages, stream: _, stream_options: __, n: ___, ...rest } = body;
  const extra = Object.fromEntries(Object.entries(rest).filter(([, value]) => isSet(value)));
  return { model: body.model.trim(), messages: messages.map(toChatMessage), extra };
}

function refuseTools({ tools, functions }: CompletionRequest): void {
  const path = tools?.length ? "tools" : functions?.length ? "functions" : undefined;
  if (!path) return;
  const message = "the agent uses its own; to use yours without the agent, send the header " +
    "x-agent-tools: off";
  throw new AppError(400, "unsupported_parameter", `cannot use ${path}: ${message}`, {
    errors: [{ path, message }],
  });
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

function isSet<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
