import { asFields, asList, asText } from "../../shared/fields.ts";
import { argumentsText, parseToolArguments } from "../../shared/providers/openai_messages.ts";
import type { ToolCall } from "../../shared/providers/provider.ts";
import type { ObservedToolCall } from "../schemas/tools.ts";

/** Asks assay-agent to say what its tools did; other servers ignore it. */
export const TOOL_EVENTS_HEADER = { "x-agent-events": "tools" };

/** The calls in `tool_events` of assay-agent; `undefined` if the message has no such list. */
export function readToolEvents(message: unknown): ObservedToolCall[] | undefined {
  const { tool_events } = asFields(message);
  if (!Array.isArray(tool_events)) return undefined;
  const calls = new Map<string, ObservedToolCall>();
  for (const event of tool_events.map(asFields)) {
    const id = asText(event.id) ?? "";
    if (event.type === "tool_call") calls.set(id, toCall(asText(event.name) ?? "", event.args));
    const call = calls.get(id);
    if (event.type !== "tool_result" || !call) continue;
    call.status = event.status === "ok" ? "ok" : "error";
    call.ms = typeof event.ms === "number" ? event.ms : null;
  }
  return [...calls.values()];
}

/** Calls that a completion leaves to its caller. */
export function readPendingCalls(calls: ToolCall[]): ObservedToolCall[] {
  return calls.map(({ name, arguments: text }) => toCall(name, text));
}

/** The same of a LangChain message; `undefined` if it has none: the agent may have called others. */
export function readMessageCalls(message: unknown): ObservedToolCall[] | undefined {
  const { tool_calls, invalid_tool_calls } = asFields(message);
  const calls = [...asList(tool_calls), ...asList(invalid_tool_calls)].map(asFields);
  if (calls.length === 0) return undefined;
  return calls.map(({ name, args }) => toCall(asText(name) ?? "", args));
}

function toCall(name: string, args: unknown): ObservedToolCall {
  const text = argumentsText(args); // also of an object: it may be nested too deeply
  return { name, args: parseToolArguments(text) ?? text, status: null, ms: null };
}
