import { asFields, asList, asText, type Fields, isFields } from "../../shared/fields.ts";
import { createCallCollector } from "../../shared/providers/call_collector.ts";
import {
  KNOWN_FIELDS,
  newToolCallId,
  parseContent,
  parseUsage,
  toolCallsIn,
  withSender,
} from "../../shared/providers/openai_messages.ts";
import { simplifyContent } from "../../shared/providers/content.ts";
import {
  mergeExtra,
  mergeParts,
  pickExtra,
  reasoningIn,
  thoughtOf,
} from "../../shared/providers/extra_fields.ts";
import { readFinishReason } from "../../shared/providers/finish_reason.ts";
import type { ChatDelta, ChatReply, ContentPart } from "../../shared/providers/provider.ts";

/** Puts one streamed reply together. */
export interface ReplyAssembler {
  /** Takes in a chunk; returns what can be shown of it at once. */
  add(chunk: unknown): ChatDelta[];
  /** The reply so far. */
  reply(): ChatReply;
  /** True once every choice has a `finish_reason`. */
  isWhole(): boolean;
}

/**
 * Chunks come as providers really send them: any field may be missing or null. The reply is the
 * choice that comes first, also if there are others; `count` is how many were asked for.
 */
export function createReplyAssembler(requestedModel: string, count = 1): ReplyAssembler {
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

  function add(body: unknown): ChatDelta[] {
    const chunk = asFields(body);
    reply.id ??= asText(chunk.id);
    reply.model = asText(chunk.model) || reply.model;
    reply.systemFingerprint ??= asText(chunk.system_fingerprint);
    reply.serviceTier ??= asText(chunk.service_tier);
    reply.usage = parseUsage(chunk.usage) ?? reply.usage;

    const choice = choices.add(asList(chunk.choices).map(asFields));
    reply.finishReason = readFinishReason(choice) ?? reply.finishReason;
    if (isFields(choice.logprobs)) {
      reply.logprobs = joinLogprobs(reply.logprobs, choice.logprobs);
    }

    const delta = asFields(choice.delta ?? choice.message);
    const extra = pickExtra(delta, KNOWN_FIELDS);
    if (extra) mergeExtra(reply.extra ??= {}, extra);
    const pieces = toolCallsIn(delta).map(calls.add);
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
      mergeParts(parts ??= reply.content ? [toText(reply.content)] : [], content);
    } else if (parts && typeof content === "string") mergeParts(parts, content);
  }

  return {
    add,
    isWhole: () => choices.isWhole(count),
    reply() {
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
    /** Returns the choice that the reply is made of; without fields if the chunk has none of it. */
    add(choices: Fields[]): Fields {
      for (const choice of choices) {
        begun.add(indexOf(choice));
        if (readFinishReason(choice) !== null) finished.add(indexOf(choice));
      }
      const [first] = begun;
      return choices.find((choice) => indexOf(choice) === first) ?? {};
    },
    isWhole: (count: number) => finished.size >= Math.max(count, begun.size),
  };
}

function toText(text: string): ContentPart {
  return { type: "text", text };
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
