import type { ChatMessage, ToolCall } from "../../../shared/providers/provider.ts";
import { toolCallsOf } from "../../../shared/providers/content.ts";
import { parseToolArguments } from "../../../shared/providers/openai_messages.ts";
import { defined, parseFields } from "../../../shared/service/fields.ts";
import { functionName } from "../tools/tool.ts";

/** Calls of one turn that are run. The others are answered with an error. */
const MAX_CALLS = 64;
/** Length of all arguments of one turn. Calls beyond it are answered with an error. */
const MAX_ARGUMENT_CHARACTERS = 1_000_000;

/** The calls of a turn, sorted by whether they may be run. */
export interface LimitedCalls {
  accepted: ToolCall[];
  /** The errors that the model gets for the others, by call id. */
  refusals: Map<string, string>;
}

/**
 * Picks the calls of one turn that are run. The result depends on the calls alone, so that the
 * history and the tools agree: `kept` are all calls, without arguments that are too long, which would
 * be sent again at every step.
 */
export function limitTurn(calls: ToolCall[]): { kept: ToolCall[]; limited: LimitedCalls } {
  const accepted: ToolCall[] = [];
  const refusals = new Map<string, string>();
  let characters = 0;
  const kept = calls.map((call) => {
    const { length } = call.arguments;
    if (characters + length > MAX_ARGUMENT_CHARACTERS) {
      refusals.set(call.id, tooLong(length));
      return { ...call, arguments: "{}" };
    }
    characters += length;
    if (accepted.length < MAX_CALLS) accepted.push(call);
    else refusals.set(call.id, tooMany(calls.length));
    return call;
  });
  return { kept, limited: { accepted, refusals } };
}

function tooMany(asked: number): string {
  return `too many calls in one turn: only the first ${MAX_CALLS} of ${asked} were run, and this one was ` +
    "not; read the results, then make the calls that are still needed in the next turn";
}

function tooLong(length: number): string {
  return `the arguments are too long: they have ${length} characters, and all arguments of one ` +
    `turn may have ${MAX_ARGUMENT_CHARACTERS} together; this call was not run: send less at a time`;
}

/** How often a call with the same arguments is run in one run. */
const MAX_REPEATS = 2;

/** How often a run has made each call, by its tool and arguments. */
export type CallCounts = ReadonlyMap<string, number>;

/**
 * Finds the calls that the model makes for the third time with the same arguments: `refusals` has
 * the error that the model gets as the result of each, by call id. `before` counts the calls of
 * earlier turns, `counts` those of this one too. Pass only calls within the limits of their turn,
 * and with the model's own arguments: the history replaces unusable ones. Calls whose
 * arguments are not a JSON object do not count, because they are never run.
 */
export function refuseRepeats(
  calls: ToolCall[],
  before: CallCounts,
): { refusals: Map<string, string>; counts: CallCounts } {
  const counts = new Map(before);
  const refusals = new Map<string, string>();
  for (const { id, name, arguments: text } of calls) {
    const args = parseToolArguments(text);
    if (!args) continue;
    const key = JSON.stringify([name, args]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count > MAX_REPEATS) refusals.set(id, repeated(name));
  }
  return { refusals, counts };
}

function repeated(name: string): string {
  return `${name} was already called ${MAX_REPEATS} times with these arguments, and this call was ` +
    "not run; use the earlier results, change the arguments, or answer without them";
}

/** No provider's ids are longer. Each id is sent again with every later model call. */
export const MAX_ID = 256;

/** What a model gets instead of a blank result: providers refuse empty content. */
export const BLANK_RESULT = "(The tool returned nothing.)";

/**
 * Makes the ids of a model's calls unique in the conversation. Some models send empty ids, or the
 * same ids in every turn; results could then not be matched to their calls.
 */
export function identifyCalls(calls: ToolCall[], history: ChatMessage[]): ToolCall[] {
  if (calls.length === 0) return calls;
  const taken = new Set(history.flatMap(toolCallsOf).map(({ id }) => id));
  const nextId = createCallIds(taken);
  return calls.map((call) => {
    if (!call.id || call.id.length > MAX_ID || taken.has(call.id)) return { ...call, id: nextId() };
    taken.add(call.id);
    return call;
  });
}

/** A call that is valid in a history: strict providers check its name and parse its arguments. */
export function toHistoryCall({ id, name, arguments: text, extra }: ToolCall): ToolCall {
  const usable = parseFields(text) ? text : "{}";
  return defined({ id, name: functionName(name), arguments: usable, extra });
}

/**
 * Creates tool-call ids of exactly nine letters and digits: Mistral accepts no others. They depend
 * on their order alone, so equal conversations get equal ids. Ids in `taken` are skipped, and each
 * new id is added to it.
 */
export function createCallIds(taken: Set<string>): () => string {
  let count = 0;
  return () => {
    let id: string;
    do id = `call${(++count).toString(36).padStart(5, "0")}`; while (taken.has(id));
    taken.add(id);
    return id;
  };
}

/** The form of ids that every provider accepts. */
const PLAIN = /^[a-zA-Z0-9]{9}$/;

/**
 * The same conversation, with ids that every provider accepts for the calls of turns of other
 * providers. `isForeign` gets the sender of a turn; see `ChatMessage`.
 */
export function withPlainCallIds(
  messages: ChatMessage[],
  isForeign: (from: string | undefined) => boolean,
): ChatMessage[] {
  const nextId = createCallIds(new Set(messages.flatMap(toolCallsOf).map(({ id }) => id)));
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
