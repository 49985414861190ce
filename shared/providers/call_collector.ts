import { asFields, asText, type Fields, parseFields } from "../fields.ts";
import { CallFailure } from "./failure.ts";
import { argumentsText, MAX_TOOL_CALLS, pickCallExtra } from "./openai_messages.ts";
import { mergeExtra } from "./extra_fields.ts";
import type { ChatDelta, ToolCall } from "./provider.ts";

/** Puts the pieces of tool calls together. */
export interface CallCollector {
  /** The calls so far. One whose pieces had no id has an empty one. */
  readonly list: ToolCall[];
  /**
   * Throws a `CallFailure` for more calls than any model makes. A piece that repeats a whole call, as
   * some servers end a stream, adds nothing.
   */
  add(piece: Fields): Extract<ChatDelta, { type: "call" }>;
}

export function createCallCollector(): CallCollector {
  const list: ToolCall[] = [];
  const places = new Map<ToolCall, number>();
  // The latest call of an index and of an id: looking through the list would take quadratic time.
  const byIndex = new Map<number, ToolCall>();
  const byId = new Map<string, ToolCall>();

  /**
   * The call that a piece continues. Pieces say so by `index`, or by repeating the id, or by
   * saying nothing at all. A name together with an id not seen before opens a new call even at a
   * known index: some providers send index 0 for all calls. A new id without a name does not:
   * others make up an id for every piece. So does a name with arguments of its own if those of the
   * call are complete: some of these providers send no ids, or the same for all calls.
   */
  function find(piece: CallPiece): ToolCall | undefined {
    const { index, id, name } = piece;
    const sameId = id ? byId.get(id) : undefined;
    const call = index !== undefined
      ? byIndex.get(index)
      : sameId ?? (name ? undefined : list.at(-1));
    const isOtherId = index !== undefined && name && id && call?.id && call.id !== id;
    return isOtherId || call && isAnother(call, piece) ? undefined : call;
  }

  function add(piece: Fields): Extract<ChatDelta, { type: "call" }> {
    const index = typeof piece.index === "number" ? piece.index : undefined;
    const id = asText(piece.id) ?? "";
    const called = asFields(piece.function);
    const name = asText(called.name) ?? "";
    const text = argumentsText(called.arguments);
    const known = id ? byId.get(id) : name ? undefined : byIndex.get(index ?? NaN);
    const extra = pickCallExtra(piece);
    if (known && isRepeated(known, { name, text })) {
      if (extra) mergeExtra(known.extra ??= {}, extra);
      return { type: "call", index: places.get(known)!, arguments: "" };
    }
    let call = find({ index, id, name, text });
    if (!call) {
      if (list.length === MAX_TOOL_CALLS) throw tooManyCalls();
      call = { id, name, arguments: "" };
      places.set(call, list.push(call) - 1);
      if (index !== undefined) byIndex.set(index, call);
    }
    call.id ||= id;
    if (call.id) byId.set(call.id, call);
    call.name ||= name;
    call.arguments += text;
    if (extra) mergeExtra(call.extra ??= {}, extra);
    return {
      type: "call",
      index: places.get(call)!,
      ...(id && { id }),
      ...(name && { name }),
      arguments: text,
    };
  }

  return { list, add };
}

/** A piece of a tool call; what it does not have is empty. */
interface CallPiece {
  index: number | undefined;
  id: string;
  name: string;
  /** Of its arguments. */
  text: string;
}

/** Times that a call's arguments may be longer than the same ones without blanks. */
const MAX_BLANKS = 4;

/**
 * True for a piece with the arguments that the call has already, written in any way. Only texts of
 * about the same length are compared: parsing all of them with each piece would take quadratic time.
 */
function isRepeated(call: ToolCall, { name, text }: Pick<CallPiece, "name" | "text">): boolean {
  if (name && name !== call.name || !/^\s*\{[^]*\}\s*$/.test(text)) return false;
  if (call.arguments.length > MAX_BLANKS * text.length) return false;
  const known = parseFields(call.arguments);
  return known !== undefined && JSON.stringify(known) === JSON.stringify(parseFields(text));
}

/** True for a piece with a name and the start of an object, after a call whose object has ended. */
function isAnother(call: ToolCall, { name, text }: CallPiece): boolean {
  if (!name || !/^\s*\{/.test(text) || !/\}\s*$/.test(call.arguments.slice(-10))) return false;
  return parseFields(call.arguments) !== undefined;
}

function tooManyCalls(): CallFailure {
  return new CallFailure({ failure: { kind: "unreadable" } });
}
