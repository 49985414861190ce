import { textOf } from "../../shared/providers/content.ts";
import type { ChatMessage } from "../../shared/providers/provider.ts";

/** Lists the rules of strict providers that a history breaks. */
export function findViolations(messages: ChatMessage[]): string[] {
  return Object.entries(RULES)
    .filter(([, holds]) => !holds(messages))
    .map(([name]) => name);
}

const RULES: Record<string, (messages: ChatMessage[]) => boolean> = {
  "a tool message answers a call of the assistant turn right before it": (messages) =>
    messages.every((message, i) =>
      message.role !== "tool" || openCalls(messages, i).includes(message.toolCallId)
    ),
  "each call gets an answer": (messages) =>
    messages.every((message, i) =>
      callIds(message).every((id) => answersAfter(messages, i).includes(id))
    ),
  "call ids are nine letters or digits": (messages) =>
    messages.flatMap(callIds).every((id) => /^[a-zA-Z0-9]{9}$/.test(id)),
  "call ids are unique": (messages) => {
    const ids = messages.flatMap(callIds);
    return new Set(ids).size === ids.length;
  },
  "one tool call an assistant turn": (messages) =>
    messages.every((message) => callIds(message).length <= 1),
  "function names are legal and arguments are a JSON object": (messages) =>
    messages.every((message) =>
      message.role !== "assistant" ||
      (message.toolCalls ?? []).every((call) =>
        /^[a-zA-Z0-9_-]{1,64}$/.test(call.name) && typeof JSON.parse(call.arguments) === "object"
      )
    ),
  "no user right after tool": (messages) =>
    messages.every((message, i) => message.role !== "user" || messages[i - 1]?.role !== "tool"),
  "no two users and no two assistants in a row": (messages) =>
    messages.every((message, i) =>
      message.role === "tool" || messages[i - 1]?.role !== message.role
    ),
  "a system message stands first or nowhere": (messages) =>
    messages.every((message, i) => message.role !== "system" || i === 0),
  "the first turn is the user's": (messages) =>
    messages.find((message) => message.role !== "system")?.role === "user",
  "no empty content but where the assistant calls a tool": (messages) =>
    messages.every((message) =>
      textOf(message.content).trim() !== "" || callIds(message).length > 0
    ),
};

function callIds(message: ChatMessage): string[] {
  return message.role === "assistant" ? (message.toolCalls ?? []).map((call) => call.id) : [];
}

function openCalls(messages: ChatMessage[], index: number): string[] {
  const caller = messages.slice(0, index).findLast((message) => message.role !== "tool");
  return caller ? callIds(caller) : [];
}

function answersAfter(messages: ChatMessage[], index: number): string[] {
  const answers: string[] = [];
  for (const message of messages.slice(index + 1)) {
    if (message.role !== "tool") break;
    answers.push(message.toolCallId);
  }
  return answers;
}
