import {
  type CompletionRequest,
  type FaultyEndpoint,
  startFaultyEndpoint,
} from "../fakes/faulty_endpoint.ts";
import type { CompletionFields } from "../fakes/provider_answers.ts";
import { askedReply } from "./replies.ts";

/** A user message that makes the model call the tool of the MCP server. */
export const CALL_TOOL = "call echo";

/**
 * A model endpoint that fails as its user asks, answers `say 17` with the reply of that number and
 * calls the MCP server's tool if it is offered.
 */
export function startSoakEndpoint(): Promise<FaultyEndpoint> {
  return startFaultyEndpoint({ answerOf });
}

function answerOf({ messages, tools = [] }: CompletionRequest): CompletionFields {
  const { role, content } = messages.at(-1)!;
  const isOffered = tools.some((tool) => tool.function.name === "echo");
  if (role === "user" && content === CALL_TOOL && isOffered) {
    return { toolCalls: [{ name: "echo", arguments: JSON.stringify({ text: "hello" }) }] };
  }
  return { content: askedReply(content) ?? "fine" };
}
