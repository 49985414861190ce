import { asFields, asList, asText } from "../../shared/service/fields.ts";
import {
  argumentsText,
  parseContent,
  parseToolArguments,
} from "../../shared/providers/openai_messages.ts";
import { type NOT_UTF8, ProviderError, type ToolCall } from "../../shared/providers/provider.ts";
import type { Cost } from "../test/cost.ts";
import type { ObservedToolCall } from "../test/tools.ts";
import type { InteractionUsage } from "../test/interaction_result.ts";

/** What the model under test said. */
export interface TargetReply {
  content: string;
  usage: InteractionUsage | null;
  /** From the request to the end of the answer: what the endpoint took, without waits of ours. */
  latencyMs?: number;
  /** From the request to the first token, if the reply was streamed. */
  firstTokenMs?: number | undefined;
  /** Why the model stopped, in the endpoint's word; `null` if it does not say. */
  finishReason?: string | null | undefined;
  /** What the model thought first. It is neither scored nor a part of the conversation. */
  reasoning?: string | undefined;
  /** Set if there is no text: what there is instead. */
  textless?: TextlessReply;
  /** Set if the endpoint's bytes were not UTF-8. */
  encoding?: typeof NOT_UTF8 | undefined;
  /** What the endpoint called; unset if that was not asked for, or it does not say. */
  toolCalls?: ObservedToolCall[] | undefined;
  /** The part of the input tokens that was in the provider's cache, if it says so. */
  cachedInputTokens?: number | undefined;
  /** What the call cost; `null` if that is not known, unset if there are no prices at all. */
  cost?: Cost | null | undefined;
}

/** Why a reply has no text, as the `error` of its turn says it. */
interface TextlessReply {
  code: "empty_reply" | "tool_calls_only";
  detail: string;
  /** Of the answer; 200 if it is unset. */
  status?: number;
}

/** What providers call a refusal by their content filter. */
const FILTERED = new Set(["content_filter", "content_policy_violation"]);

/**
 * The refusal of a content filter in place of an answer, as OpenAI and Azure send it: a 400. It is an
 * answer without a text, as one that was filtered later is.
 */
export function filteredReply(error: unknown): TargetReply | undefined {
  if (!(error instanceof ProviderError) || !FILTERED.has(error.provider?.code ?? "")) {
    return undefined;
  }
  const { provider, failure } = error;
  const reply = { content: "", usage: null, finishReason: "content_filter" };
  const { code, detail } = explainTextless(reply, []);
  return {
    ...reply,
    textless: {
      code,
      detail: `${detail}: ${provider!.message}`,
      ...(failure.kind === "status" && { status: failure.status }),
    },
  };
}

/** A reply as an endpoint sent it. */
export interface RawReply
  extends
    Pick<TargetReply, "usage" | "encoding" | "firstTokenMs" | "toolCalls" | "cachedInputTokens"> {
  /** Text, a list of parts, or `null`. */
  content: unknown;
  /** What the endpoint sent as the model's reasoning, apart from the content. */
  reasoning: unknown;
  /** The names of the tools that the model calls. */
  calls: string[];
  finishReason: string | null;
  latencyMs: number;
}

/**
 * Separates a reply's text from the model's reasoning, and says if no text is left. If tool calls are
 * asked for, a reply of nothing else is whole.
 */
export function toTargetReply(
  { content: sent, reasoning: named, calls, ...raw }: RawReply,
): TargetReply {
  const { content, thought } = splitThought(parseContent(sent) ?? "");
  const thoughts = [asText(named) ?? thoughtParts(sent), thought];
  const reply: TargetReply = {
    ...raw,
    content,
    usage: raw.usage && isCounted(raw.usage) ? raw.usage : null,
    reasoning: thoughts.map((text) => text.trim()).filter(Boolean).join("\n\n") || undefined,
  };
  if (raw.toolCalls?.length || content.trim() !== "") return reply;
  return { ...reply, textless: explainTextless(reply, calls) };
}

/**
 * No model answers without tokens: an endpoint that does not count them but has to send numbers, as
 * an agent's message does, sends zeros. Negative counts are refused, too.
 */
function isCounted({ input_tokens, output_tokens, total_tokens }: InteractionUsage): boolean {
  const counts = [input_tokens, output_tokens, total_tokens];
  const areCounts = counts.every((count) => count >= 0 && count <= Number.MAX_SAFE_INTEGER);
  return areCounts && input_tokens + output_tokens > 0;
}

/** A block at the beginning, closed or not. */
const THOUGHT = /^\s*<(think|thinking)>(.*?)(?:(<\/\1>)(.*)|$)/s;
/**
 * The end of one whose opening tag is not part of the reply, because the model's chat template has
 * written it (DeepSeek-R1, QwQ). It stands at the beginning or at the end of a line.
 */
const THOUGHT_END = /(?:^|\n)[ \t]*<\/think(?:ing)?>|<\/think(?:ing)?>(?=[ \t]*(?:\r?\n|$))/;

/**
 * Splits off the block `<think>…</think>` that some models begin their reply with. Only a leading
 * one: further in, the model may be writing about it. A block that is never closed is all thought.
 */
function splitThought(text: string): { content: string; thought: string } {
  const [, , thought, isClosed, rest = ""] = THOUGHT.exec(text) ?? [];
  if (thought !== undefined) return { content: isClosed ? rest.trimStart() : "", thought };
  const end = THOUGHT_END.exec(text);
  const before = text.slice(0, end?.index);
  if (!end || /<think(?:ing)?>/.test(before)) return { content: text, thought: "" };
  return { content: text.slice(end.index + end[0].length).trimStart(), thought: before };
}

/** The text of parts such as Mistral's `{"type": "thinking", "thinking": [{"text": "…"}]}`. */
function thoughtParts(content: unknown): string {
  return asList(content).map((part) => parseContent(asFields(part).thinking) ?? "").join("");
}

const SHOWN_CALLS = 3;

function explainTextless(
  { finishReason, reasoning }: TargetReply,
  calls: string[],
): TextlessReply {
  const reason = finishReason ? ` (finish_reason "${finishReason.slice(0, 100)}")` : "";
  if (calls.length > 0) {
    const shown = calls.slice(0, SHOWN_CALLS).map((name) => `"${name.slice(0, 100)}"`).join(", ");
    const more = calls.length > SHOWN_CALLS ? ` and ${calls.length - SHOWN_CALLS} more` : "";
    const detail = `the reply has no text${reason}; it calls tools: ${shown}${more}`;
    return { code: "tool_calls_only", detail };
  }
  const instead = reasoning === undefined ? "" : ", only reasoning";
  return { code: "empty_reply", detail: `the reply has no text${instead}${reason}` };
}

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

/** Calls of a LangChain message; `undefined` if it has none: the agent may have called others. */
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
