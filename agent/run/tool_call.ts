import { parseFields } from "../../shared/fields.ts";
import { callIdsOf, createCallIds } from "../../shared/providers/call_ids.ts";
import type { ChatMessage, ToolCall } from "../../shared/providers/provider.ts";
import { functionName } from "../tools/names.ts";

/** No provider's ids are longer. Each id is sent again with every later model call. */
export const MAX_ID = 256;

/** What a model gets in place of a blank result: providers refuse empty content. */
export const BLANK_RESULT = "(The tool returned nothing.)";

/**
 * Makes the ids of a model's calls unique in the conversation. Some models send empty ids, or the
 * same ids in every turn; results could then not be matched to their calls.
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

/** A call that is valid in a history: strict providers check its name and parse its arguments. */
export function toHistoryCall({ id, name, arguments: text, extra }: ToolCall): ToolCall {
  return {
    id,
    name: functionName(name),
    arguments: parseFields(text) ? text : "{}",
    ...(extra && { extra }),
  };
}
