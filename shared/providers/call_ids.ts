import type { ChatMessage } from "./provider.ts";

/**
 * Creates tool-call ids of exactly nine letters and digits: Mistral accepts no others. They depend
 * on their order alone, so equal conversations get equal ids. Ids in `taken` are skipped, and each
 * new id is added to it.
 */
export function createCallIds(taken: Set<string> = new Set()): () => string {
  let count = 0;
  return () => {
    let id: string;
    do id = `call${(++count).toString(36).padStart(5, "0")}`; while (taken.has(id));
    taken.add(id);
    return id;
  };
}

/** The ids of a turn's calls. */
export function callIdsOf(message: ChatMessage): string[] {
  return message.role === "assistant" ? (message.toolCalls ?? []).map((call) => call.id) : [];
}

/** The form of the ids that every provider takes. */
const PLAIN = /^[a-zA-Z0-9]{9}$/;

/**
 * The same conversation with ids that every provider takes, for the calls of turns that are foreign
 * to the model that is asked. `isForeign` gets the sender of a turn; see `ChatMessage`.
 */
export function withPlainCallIds(
  messages: ChatMessage[],
  isForeign: (from: string | undefined) => boolean,
): ChatMessage[] {
  const nextId = createCallIds(new Set(messages.flatMap(callIdsOf)));
  const renamed = new Map<string, string>();
  function rename(id: string): string {
    if (PLAIN.test(id)) return id;
    const plain = nextId();
    renamed.set(id, plain);
    return plain;
  }
  return messages.map((message) => {
    if (message.role === "tool") {
      const { toolCallId } = message;
      return { ...message, toolCallId: renamed.get(toolCallId) ?? toolCallId };
    }
    if (message.role !== "assistant" || !message.toolCalls) return message;
    const { from, toolCalls } = message;
    if (!isForeign(from)) return message;
    return { ...message, toolCalls: toolCalls.map((call) => ({ ...call, id: rename(call.id) })) };
  });
}
