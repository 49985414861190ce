import type { ChatMessage, ToolCall } from "../../shared/providers/provider.ts";
import { parseArguments } from "./arguments.ts";

/**
 * Hands out tool-call ids of exactly nine letters and digits, as the strictest provider wants them
 * (wire.md 2). They follow from their order alone, so equal conversations get equal ids; what
 * `taken` holds is left out, and each new id is added to it.
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

/** A name that every provider takes for a function; `tool` where nothing of `name` is usable. */
export function functionName(name: string | null | undefined): string {
  const legal = (name ?? "").trim().replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return /[a-zA-Z0-9]/.test(legal) ? legal : "tool";
}

/** Longer ids than any provider's; they would be sent again with each call. */
const MAX_ID = 256;

/**
 * Gives a model's calls ids that are unique in the conversation. Models send empty ones, and the
 * same ones turn after turn, and then nothing says which result belongs to which call.
 */
export function identifyCalls(calls: ToolCall[], history: ChatMessage[]): ToolCall[] {
  if (calls.length === 0) return calls;
  const taken = new Set(history.flatMap(callIdsOf));
  const nextId = createCallIds(taken);
  return calls.map((call) => {
    if (!call.id || call.id.length > MAX_ID || taken.has(call.id)) return { ...call, id: nextId() };
    taken.add(call.id);
    return call;
  });
}

/** A call as it may stand in a history: strict providers check its name and parse its arguments. */
export function toHistoryCall({ id, name, arguments: text }: ToolCall): ToolCall {
  const isReadable = text.trim() !== "" && parseArguments(text) !== undefined;
  return { id, name: functionName(name), arguments: isReadable ? text : "{}" };
}

function callIdsOf(message: ChatMessage): string[] {
  return message.role === "assistant" ? (message.toolCalls ?? []).map((call) => call.id) : [];
}
