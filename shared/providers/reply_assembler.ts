import {
  asFields,
  asList,
  asText,
  defined,
  type Fields,
  isFields,
  parseFields,
} from "../service/fields.ts";
import {
  argumentsText,
  KNOWN_ANSWER_FIELDS,
  KNOWN_CHOICE_FIELDS,
  KNOWN_FIELDS,
  MAX_TOOL_CALLS,
  newToolCallId,
  parseContent,
  pickCallExtra,
  readFinishReason,
  readUsage,
  toolCallsIn,
  withSender,
} from "./openai_messages.ts";
import {
  mergeExtra,
  mergeParts,
  pickExtra,
  reasoningIn,
  simplifyContent,
  thoughtOf,
} from "./content.ts";
import type { ChatDelta, ChatReply, ContentPart, ToolCall } from "./provider.ts";
import { CallFailure } from "./diagnosis.ts";

/**
 * Puts one streamed reply together. Reads chunks leniently: any field may be missing or null. The
 * reply is the choice that comes first, also if there are others.
 */
export function createReplyAssembler(requestedModel: string) {
  const calls = createCallCollector();
  const choices = createChoiceTally();
  let parts: ContentPart[] | undefined;
  const reply: ChatReply = {
    id: null,
    model: requestedModel,
    content: null,
    refusal: null,
    toolCalls: [],
    finishReason: null,
    usage: null,
    systemFingerprint: null,
    serviceTier: null,
    logprobs: null,
  };

  /** Takes in a chunk; returns what can be shown of it at once. */
  function add(body: unknown): ChatDelta[] {
    const chunk = asFields(body);
    reply.id ??= asText(chunk.id);
    reply.model = asText(chunk.model) || reply.model;
    reply.systemFingerprint ??= asText(chunk.system_fingerprint);
    reply.serviceTier ??= asText(chunk.service_tier);
    const { choice, others } = choices.add(asList(chunk.choices).map(asFields));
    reply.usage = readUsage(chunk, choice) ?? reply.usage;
    // The last value counts: some send the same list with every chunk.
    const answerExtra = pickExtra(chunk, KNOWN_ANSWER_FIELDS);
    if (answerExtra) Object.assign(reply.answerExtra ??= {}, answerExtra);
    const choiceExtra = pickExtra(choice, KNOWN_CHOICE_FIELDS);
    if (choiceExtra) Object.assign(reply.choiceExtra ??= {}, choiceExtra);
    reply.finishReason = readFinishReason(choice) ?? reply.finishReason;
    if (isFields(choice.logprobs)) {
      reply.logprobs = joinLogprobs(reply.logprobs, choice.logprobs);
    }

    const delta = asFields(choice.delta ?? choice.message);
    const extra = pickExtra(delta, KNOWN_FIELDS);
    if (extra) mergeExtra(reply.extra ??= {}, extra);
    // Some gateways send the text as one choice and the calls as another.
    const called = [delta, ...others.map((other) => asFields(other.delta ?? other.message))];
    const pieces = called.flatMap(toolCallsIn).map(calls.add);
    const refusal = asText(delta.refusal);
    if (refusal !== null) reply.refusal = (reply.refusal ?? "") + refusal;
    const text = parseContent(delta.content);
    addParts(delta.content);
    if (text !== null) reply.content = (reply.content ?? "") + text;
    const reasoning = extra && reasoningIn(extra) || asList(delta.content).map(thoughtOf).join("");
    const logprobs = isFields(choice.logprobs) ? { logprobs: choice.logprobs } : {};
    return [
      ...(reasoning ? [{ type: "reasoning" as const, text: reasoning }] : []),
      ...(text ? [{ type: "text" as const, text, ...logprobs }] : []),
      ...pieces,
    ];
  }

  /** Before `reply.content` grows: the parts begin with the text so far. */
  function addParts(content: unknown): void {
    if (Array.isArray(content)) {
      mergeParts(parts ??= reply.content ? [{ type: "text", text: reply.content }] : [], content);
    } else if (parts && typeof content === "string") mergeParts(parts, content);
  }

  return {
    add,
    /** True once every choice has a `finish_reason`. */
    isWhole: () => choices.isWhole(),
    /** The reply so far. */
    reply(): ChatReply {
      const toolCalls = calls.list.map((call) => ({ ...call, id: call.id || newToolCallId() }));
      const isMore = parts && typeof simplifyContent(parts) !== "string";
      const whole = { ...reply, toolCalls, ...(parts && isMore && { parts }) };
      return withSender(whole, requestedModel);
    },
  };
}

/** Keeps the choices of a stream apart, which come in any order. */
function createChoiceTally() {
  const begun = new Set<number>();
  const finished = new Set<number>();
  const indexOf = ({ index }: Fields) => typeof index === "number" ? index : 0;

  return {
    /** The choice of the reply, empty if the chunk does not have it, and the others. */
    add(choices: Fields[]): { choice: Fields; others: Fields[] } {
      for (const choice of choices) {
        begun.add(indexOf(choice));
        if (readFinishReason(choice) !== null) finished.add(indexOf(choice));
      }
      const [first] = begun;
      const choice = choices.find((one) => indexOf(one) === first) ?? {};
      return { choice, others: choices.filter((one) => one !== choice) };
    },
    isWhole: () => finished.size > 0 && finished.size >= begun.size,
  };
}

/** Lists grow in place: copying them for each token would take quadratic time. */
function joinLogprobs(known: Record<string, unknown> | null, more: Record<string, unknown>) {
  const joined = known ?? {};
  for (const [key, value] of Object.entries(more)) {
    const before = joined[key];
    if (!Array.isArray(value)) joined[key] = before ?? value;
    else if (Array.isArray(before)) { for (const item of value) before.push(item); }
    else joined[key] = [...value];
  }
  return joined;
}

/** Puts the pieces of tool calls together. */
function createCallCollector() {
  /** The calls so far. One whose pieces had no id has an empty one. */
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

  /**
   * Throws a `CallFailure` for more calls than any model makes. A piece that repeats a whole call, as
   * some servers end a stream, adds nothing.
   */
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
      return defined({ type: "call", index: places.get(known)!, arguments: "", extra });
    }
    let call = find({ index, id, name, text });
    if (!call) {
      if (list.length === MAX_TOOL_CALLS) {
        throw new CallFailure({ failure: { kind: "unreadable" } });
      }
      call = { id, name, arguments: "" };
      places.set(call, list.push(call) - 1);
      if (index !== undefined) byIndex.set(index, call);
    }
    call.id ||= id;
    if (call.id) byId.set(call.id, call);
    call.name ||= name;
    call.arguments += text;
    if (extra) mergeExtra(call.extra ??= {}, extra);
    return defined({
      type: "call",
      index: places.get(call)!,
      id: id || undefined,
      name: name || undefined,
      arguments: text,
      extra,
    });
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

/** How many times longer the known arguments may be than a repetition without white space. */
const MAX_BLANKS = 4;

/**
 * True for a piece with the arguments that the call has already, written in any way. Only texts of
 * about the same length are compared: parsing all of them with each piece would take quadratic time.
 */
function isRepeated(call: ToolCall, { name, text }: { name: string; text: string }): boolean {
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
