import type { ChatMessage, ToolDefinition } from "../../shared/providers/provider.ts";
import type { Adaptation } from "./adapted_requests.ts";

/**
 * Models are asked without tools about a conversation with tool calls, as at the last step of a run.
 * Bedrock and others refuse that: they get a definition of each tool in the conversation.
 */
export const TOOL_HISTORY: Adaptation = {
  applies: ({ messages, tools, rawMessages }) =>
    !rawMessages && !tools?.length && namesOf(messages).size > 0,
  adapt: (request) => ({ ...request, tools: [...namesOf(request.messages)].map(toDefinition) }),
  isRefusal: (status, { message }) => [400, 422].includes(status) && /tool/i.test(message),
};

function namesOf(messages: ChatMessage[]): Set<string> {
  return new Set(
    messages.flatMap((message) => message.role === "assistant" ? message.toolCalls ?? [] : [])
      .map(({ name }) => name),
  );
}

function toDefinition(name: string): ToolDefinition {
  return {
    name,
    description: "Was used earlier in this conversation. It cannot be called any more.",
    parameters: { type: "object", properties: {} },
  };
}
