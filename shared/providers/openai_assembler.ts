import {
  asFields,
  asList,
  asText,
  isFields,
  newToolCallId,
  parseArguments,
  parseContent,
  parseUsage,
} from "./openai_messages.ts";
import type { ChatDelta, ChatReply, ToolCall } from "./provider.ts";

type CallInPieces = ToolCall & { index: number | undefined };

/** Puts one streamed reply together. */
export interface ReplyAssembler {
  /** Takes in a chunk; returns what can be shown of it at once. */
  add(chunk: unknown): ChatDelta[];
  /** The reply so far; whole once `finishReason` is set. */
  readonly reply: ChatReply;
}

/** Chunks come as providers really send them: any field may be missing or null. */
export function createReplyAssembler(requestedModel: string): ReplyAssembler {
  const calls: CallInPieces[] = [];
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
    for (const piece of asList(delta.tool_calls)) addToolCall(calls, asFields(piece));
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
      const toolCalls = calls.map(({ index: _, ...call }) => ({
        ...call,
        id: call.id || newToolCallId(),
      }));
      return { ...reply, toolCalls };
    },
  };
}

function addToolCall(calls: CallInPieces[], piece: Record<string, unknown>): void {
  const index = typeof piece.index === "number" ? piece.index : undefined;
  const id = asText(piece.id) ?? "";
  const called = asFields(piece.function);
  const name = asText(called.name) ?? "";
  let call = findCall(calls, { index, id, name });
  if (!call) {
    call = { index, id, name, arguments: "" };
    calls.push(call);
  }
  call.id ||= id;
  call.name ||= name;
  call.arguments += parseArguments(called.arguments);
}

/**
 * The call that a piece goes on with. Pieces say so by `index`, or by repeating the id, or by saying
 * nothing at all. A name together with an id not seen before opens a new call even at a known
 * index: some providers send index 0 for all calls. A new id without a name does not: others
 * make up an id for every piece.
 */
function findCall(
  calls: CallInPieces[],
  { index, id, name }: { index: number | undefined; id: string; name: string },
): CallInPieces | undefined {
  if (index !== undefined) {
    const call = calls.findLast((known) => known.index === index);
    return name && id && call?.id && call.id !== id ? undefined : call;
  }
  const sameId = id ? calls.findLast((known) => known.id === id) : undefined;
  return sameId ?? (name ? undefined : calls.at(-1));
}

/** Lists grow in place: one token a chunk would copy them as often as there are tokens. */
function joinLogprobs(known: Record<string, unknown> | null, more: Record<string, unknown>) {
  const joined = known ?? {};
  for (const [key, value] of Object.entries(more)) {
    const before = joined[key];
    if (!Array.isArray(value)) joined[key] = before ?? value;
    else if (Array.isArray(before)) before.push(...value);
    else joined[key] = [...value];
  }
  return joined;
}
