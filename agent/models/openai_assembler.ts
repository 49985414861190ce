import {
  asFields,
  asList,
  asText,
  isFields,
  MAX_TOOL_CALLS,
  newToolCallId,
  parseArguments,
  parseContent,
  parseUsage,
} from "../../shared/providers/openai_messages.ts";
import type { ChatDelta, ChatReply, ToolCall } from "../../shared/providers/provider.ts";

/** Puts one streamed reply together. */
export interface ReplyAssembler {
  /** Takes in a chunk; returns what can be shown of it at once. */
  add(chunk: unknown): ChatDelta[];
  /** The reply so far; whole once `finishReason` is set. */
  readonly reply: ChatReply;
}

/** Chunks come as providers really send them: any field may be missing or null. */
export function createReplyAssembler(requestedModel: string): ReplyAssembler {
  const calls = createCallCollector();
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

  function add(body: unknown): ChatDelta[] {
    const chunk = asFields(body);
    reply.id ??= asText(chunk.id);
    reply.model = asText(chunk.model) || reply.model;
    reply.systemFingerprint ??= asText(chunk.system_fingerprint);
    reply.serviceTier ??= asText(chunk.service_tier);
    reply.usage = parseUsage(chunk.usage) ?? reply.usage;

    const choice = asFields(asList(chunk.choices)[0]);
    reply.finishReason = asText(choice.finish_reason) ?? reply.finishReason;
    if (isFields(choice.logprobs)) {
      reply.logprobs = joinLogprobs(reply.logprobs, choice.logprobs);
    }

    const delta = asFields(choice.delta ?? choice.message);
    for (const piece of asList(delta.tool_calls)) calls.add(asFields(piece));
    const refusal = asText(delta.refusal);
    if (refusal !== null) reply.refusal = (reply.refusal ?? "") + refusal;
    const text = parseContent(delta.content);
    if (text !== null) reply.content = (reply.content ?? "") + text;
    const reasoning = asText(delta.reasoning_content) ?? asText(delta.reasoning);
    return [
      ...(reasoning ? [{ type: "reasoning" as const, text: reasoning }] : []),
      ...(text ? [{ type: "text" as const, text }] : []),
    ];
  }

  return {
    add,
    get reply() {
      const toolCalls = calls.list.map((call) => ({ ...call, id: call.id || newToolCallId() }));
      return { ...reply, toolCalls };
    },
  };
}

/** Puts the pieces of tool calls together. */
function createCallCollector() {
  const list: ToolCall[] = [];
  // The latest call of an index and of an id: looking through the list would take quadratic time.
  const byIndex = new Map<number, ToolCall>();
  const byId = new Map<string, ToolCall>();

  /**
   * The call that a piece goes on with. Pieces say so by `index`, or by repeating the id, or by
   * saying nothing at all. A name together with an id not seen before opens a new call even at a
   * known index: some providers send index 0 for all calls. A new id without a name does not:
   * others make up an id for every piece.
   */
  function find({ index, id, name }: {
    index: number | undefined;
    id: string;
    name: string;
  }): ToolCall | undefined {
    if (index !== undefined) {
      const call = byIndex.get(index);
      return name && id && call?.id && call.id !== id ? undefined : call;
    }
    const sameId = id ? byId.get(id) : undefined;
    return sameId ?? (name ? undefined : list.at(-1));
  }

  function add(piece: Record<string, unknown>): void {
    const index = typeof piece.index === "number" ? piece.index : undefined;
    const id = asText(piece.id) ?? "";
    const called = asFields(piece.function);
    const name = asText(called.name) ?? "";
    let call = find({ index, id, name });
    if (!call) {
      if (list.length === MAX_TOOL_CALLS) throw new SyntaxError("too many tool calls");
      call = { id, name, arguments: "" };
      list.push(call);
      if (index !== undefined) byIndex.set(index, call);
    }
    call.id ||= id;
    if (call.id) byId.set(call.id, call);
    call.name ||= name;
    call.arguments += parseArguments(called.arguments);
  }

  return { list, add };
}

/** Lists grow in place: one token a chunk would copy them as often as there are tokens. */
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
