import { asFields, asList, asText } from "../../shared/fields.ts";
import type { CompletionMessage, CompletionRequest } from "../schemas/chat_completion.ts";

/** Tools as OpenAI's clients of 2023 send them: `functions`, `function_call`, role `function`. */

/** The caller gets its calls as `function_call`. */
export function isLegacy({ functions }: CompletionRequest): boolean {
  return Boolean(functions?.length);
}

/** The same request with tools. Functions are called one at a time, and so the tools are. */
export function fromLegacy(body: CompletionRequest): CompletionRequest {
  const { functions, function_call: choice, ...rest } = body;
  const messages = fromLegacyMessages(body.messages);
  if (!functions?.length) return { ...rest, messages };
  return {
    ...rest,
    messages,
    tools: functions.map((definition) => ({ type: "function", function: definition })),
    parallel_tool_calls: false,
    ...(choice ? { tool_choice: toToolChoice(choice) } : {}),
  };
}

function toToolChoice(choice: unknown): unknown {
  return typeof choice === "string" ? choice : { type: "function", function: choice };
}

/**
 * A result has the name of its function instead of an id: it answers the last call of that name. The
 * call itself may still have the id that `toLegacyMessage` gave it.
 */
function fromLegacyMessages(messages: CompletionMessage[]): CompletionMessage[] {
  const ids = new Map<string, string>();
  return messages.map((message, index): CompletionMessage => {
    if (message.role === "function") {
      const { name, content } = message;
      return { role: "tool", name, content, tool_call_id: ids.get(name) ?? "" };
    }
    if (message.role !== "assistant" || !message.function_call) return message;
    const { function_call, ...rest } = message;
    const { id: given, name, arguments: args } = asFields(function_call);
    const id = asText(given) ?? `function_${index}`;
    ids.set(String(name), id);
    const called = { name: String(name), arguments: String(args ?? "") };
    return { ...rest, tool_calls: [{ id, type: "function", function: called }] };
  });
}

/**
 * A message or a delta with its first call as `function_call`. It keeps the call's id, which such
 * clients do not know but send back with the rest: the key to the run that waits for the result.
 */
export function toLegacyMessage<T extends Record<string, unknown>>(message: T) {
  const { tool_calls: calls, ...rest } = message;
  if (!calls) return message;
  const first = asList(calls).map(asFields).find(({ index = 0 }) => index === 0);
  if (!first) return rest;
  const { id, function: called } = first;
  return { ...rest, function_call: { ...asFields(called), ...(id ? { id } : {}) } };
}

export function toLegacyFinish(finishReason: string | null): string | null {
  return finishReason === "tool_calls" ? "function_call" : finishReason;
}
