import type { Attributes } from "@opentelemetry/api";
import { textOf } from "../../providers/content.ts";
import type { ChatContent, ToolCall } from "../../providers/provider.ts";

/** A message, as services and judges write it. */
interface Said {
  role: string;
  content: ChatContent | null;
  toolCalls?: ToolCall[];
  toolCallId?: string;
}

/** What a model was told, in the form of OpenTelemetry's GenAI conventions. Media are left out. */
export function describeInput(messages: readonly Said[]): Attributes {
  return { "gen_ai.input.messages": JSON.stringify(messages.map(toMessage)) };
}

/** What it answered. */
export function describeOutput(
  { finishReason, ...reply }: Omit<Said, "role"> & { finishReason?: string | null | undefined },
): Attributes {
  const message = {
    ...toMessage({ role: "assistant", ...reply }),
    finish_reason: finishReason ?? "stop",
  };
  return { "gen_ai.output.messages": JSON.stringify([message]) };
}

function toMessage({ role, content, toolCalls = [], toolCallId: id }: Said) {
  const text = textOf(content ?? "");
  const said = id === undefined
    ? { type: "text", content: text }
    : { type: "tool_call_response", id, response: text };
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    type: "tool_call",
    id,
    name,
    arguments: given,
  }));
  return { role, parts: [...(text || id !== undefined ? [said] : []), ...calls] };
}
