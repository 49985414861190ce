import {
  asFields,
  asList,
  asText,
  defined,
  type Fields,
  isFields,
  isPlainShape,
  parseFields,
} from "../service/fields.ts";
import type {
  ChatMessage,
  ChatReply,
  ChatRequest,
  ChatUsage,
  DecodedAnswer,
  ExtraFields,
  ListedModel,
  ToolCall,
} from "./provider.ts";
import { addToolImages, isSameProvider, pickExtra, pickParts, textOf } from "./content.ts";
import { randomHex } from "../service/text.ts";

/** An answer with more tool calls than any model makes is unreadable. */
export const MAX_TOOL_CALLS = 10_000;

/**
 * A request in OpenAI's shape, as JSON: unset fields are left out, so that the provider decides. What another
 * provider sent with its messages is left out too; see `ChatMessage`.
 */
export function toCompletionParams(request: ChatRequest) {
  const { model, messages, tools, temperature, maxTokens, seed, extra } = request;
  return {
    ...extra,
    model,
    messages: addToolImages(messages).map((message) => toMessageParam(message, model)),
    tools: tools?.length
      ? tools.map((tool) => ({ type: "function" as const, function: { ...tool } }))
      : undefined,
    temperature,
    max_tokens: maxTokens,
    seed,
  };
}

/** A message in OpenAI's shape, for `model`. */
function toMessageParam(message: ChatMessage, model: string): Fields {
  if (message.role === "assistant") return toAssistantParam(message, model);
  const { role, content, extra } = message;
  if (role === "tool") return { ...extra, role, tool_call_id: message.toolCallId, content };
  return { ...extra, role, content };
}

function toAssistantParam(
  { role, content, toolCalls, extra, from }: Extract<ChatMessage, { role: "assistant" }>,
  model: string,
) {
  const isOwn = from === undefined || isSameProvider(from, model);
  const said = isOwn ? content : textOf(content);
  return {
    ...(isOwn && extra),
    role,
    content: toolCalls?.length ? said || null : said,
    tool_calls: toolCalls?.length
      ? toolCalls.map((call) => toToolCallParam(call, isOwn ? call.extra : undefined))
      : undefined,
  };
}

/** A call in OpenAI's shape, with its further fields. */
export function toToolCallParam(
  { id, name, arguments: text }: ToolCall,
  extra: ExtraFields | undefined,
) {
  const { function: more, ...fields } = extra ?? {};
  return {
    type: "function" as const,
    ...fields,
    id,
    function: { ...asFields(more), name, arguments: text },
  };
}

/** Reads a completion leniently, as providers send it; `undefined` if it is not one. */
export function parseReply(
  { value, encoding }: DecodedAnswer,
  requestedModel: string,
): ChatReply | undefined {
  const completion = asFields(value);
  const choices = asList(completion.choices).map(asFields);
  const choice = choices[0] ?? {};
  if (!isFields(choice.message)) return undefined;
  const message = choice.message;
  // Some gateways send the text as one choice and the calls as another.
  const toolCalls = choices.flatMap((one) => toolCallsIn(asFields(one.message)));
  if (toolCalls.length > MAX_TOOL_CALLS) return undefined;
  const reply = defined({
    id: asText(completion.id),
    model: asText(completion.model) || requestedModel,
    content: parseContent(message.content),
    refusal: asText(message.refusal),
    toolCalls: toolCalls.map(parseToolCall),
    finishReason: readFinishReason(choice),
    usage: readUsage(completion, choice),
    systemFingerprint: asText(completion.system_fingerprint),
    serviceTier: asText(completion.service_tier),
    logprobs: isFields(choice.logprobs) ? choice.logprobs : null,
    extra: pickExtra(message, KNOWN_FIELDS),
    answerExtra: pickExtra(completion, KNOWN_ANSWER_FIELDS),
    choiceExtra: pickExtra(choice, KNOWN_CHOICE_FIELDS),
    parts: pickParts(message.content),
    encoding,
  });
  return withSender(reply, requestedModel);
}

/** The fields of an answer's message that are read here. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
]);

/** The fields of an answer, or of a chunk, that are read here. OpenAI pads chunks with `obfuscation`. */
export const KNOWN_ANSWER_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "error",
  "system_fingerprint",
  "service_tier",
  "obfuscation",
]);

/** The fields of a choice that are read here. */
export const KNOWN_CHOICE_FIELDS: ReadonlySet<string> = new Set([
  "index",
  "message",
  "delta",
  "finish_reason",
  "logprobs",
  "usage",
  "error",
]);

/** Names the sender of a reply's fields and parts, if it has any. */
export function withSender(reply: ChatReply, model: string): ChatReply {
  const { extra, parts, toolCalls } = reply;
  return extra || parts || toolCalls.some((call) => call.extra) ? { ...reply, from: model } : reply;
}

/** Text, or the text of a list of parts, as providers of reasoning models send it. */
export function parseContent(content: unknown): string | null {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(part) ?? asText(asFields(part).text) ?? "").join("");
}

/**
 * The calls of a message, or the pieces of calls of a delta. Servers that answer as OpenAI did in
 * 2023 have one call, in `function_call`.
 */
export function toolCallsIn({ tool_calls, function_call }: Fields): Fields[] {
  const calls = asList(tool_calls).map(asFields);
  const { name, arguments: args } = asFields(function_call);
  return calls.length === 0 && (name || args) ? [{ function: function_call }] : calls;
}

/** Reads a call leniently; one without an id gets a new one. */
export function parseToolCall(call: Fields): ToolCall {
  const { name, arguments: args } = asFields(call.function);
  return defined({
    id: asText(call.id) || newToolCallId(),
    name: asText(name) ?? "",
    arguments: argumentsText(args),
    extra: pickCallExtra(call),
  });
}

const KNOWN_CALL_FIELDS: ReadonlySet<string> = new Set(["id", "index", "type", "function"]);
const KNOWN_FUNCTION_FIELDS: ReadonlySet<string> = new Set(["name", "arguments"]);

/** The fields of a call, or of a piece of one, that are not read here. */
export function pickCallExtra(call: Fields): ExtraFields | undefined {
  const called = pickExtra(asFields(call.function), KNOWN_FUNCTION_FIELDS);
  const extra = pickExtra(call, KNOWN_CALL_FIELDS);
  return called ? { ...extra, function: called } : extra;
}

/** Some providers send the arguments as an object instead of as its JSON. */
export function argumentsText(args: unknown): string {
  return isFields(args) ? JSON.stringify(args) : asText(args) ?? "";
}

/** For a call that came without an id: 9 letters or digits, the form that every provider accepts. */
export function newToolCallId(): string {
  return randomHex(9);
}

/** The token counts of an answer or a chunk. Groq has them in `x_groq`, Moonshot in the choice. */
export function readUsage({ usage, x_groq }: Fields, choice: Fields): ChatUsage | null {
  return parseUsage(usage) ?? parseUsage(asFields(x_groq).usage) ?? parseUsage(choice.usage);
}

const KNOWN_USAGE_FIELDS: ReadonlySet<string> = new Set([
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_tokens_details",
  "completion_tokens_details",
]);

function parseUsage(usage: unknown): ChatUsage | null {
  if (!isFields(usage)) return null;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const counts = [prompt_tokens, completion_tokens, total_tokens];
  if (!counts.some((count) => typeof count === "number")) return null;
  const promptTokens = asCount(prompt_tokens) ?? 0;
  const completionTokens = asCount(completion_tokens) ?? 0;
  return defined({
    promptTokens,
    completionTokens,
    totalTokens: asCount(total_tokens) ?? promptTokens + completionTokens,
    promptDetails: parseDetails(usage.prompt_tokens_details),
    completionDetails: parseDetails(usage.completion_tokens_details),
    extra: pickExtra(usage, KNOWN_USAGE_FIELDS),
  });
}

function parseDetails(details: unknown): Record<string, number> | null {
  const numeric = Object.entries(asFields(details))
    .filter((entry): entry is [string, number] => asCount(entry[1]) !== undefined);
  return numeric.length > 0 ? Object.fromEntries(numeric) : null;
}

/** No hub has as many; of a longer list the rest is left out, and whoever lists them says so. */
export const MAX_MODELS = 10_000;

/**
 * `{data: [{id, …}]}`, or Together's list without `data`; `undefined` if it is neither. Ollama's
 * `data` is `null` if it has no models. Entries without an id are dropped. Of more than `MAX_MODELS`
 * one more than these is returned.
 */
export function parseModels(body: unknown): ListedModel[] | undefined {
  const { object, data } = asFields(body);
  if (object === "list" && data === null) return [];
  const list = Array.isArray(body) ? body : data;
  if (!Array.isArray(list)) return undefined;
  return list.slice(0, MAX_MODELS + 1).map(asFields).flatMap((model) => {
    const id = asText(model.id);
    if (!id) return [];
    const names = [model.name, model.display_name, model.suffix];
    const name = names.map((name) => asText(name)?.trim()).find(Boolean) ?? id;
    return [defined({ id, name, shutdownDate: asText(model.shutdown_date) || undefined })];
  });
}

/** A number that can be a count, and be added to others. */
function asCount(value: unknown): number | undefined {
  const isCount = typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
  return isCount ? value : undefined;
}

/**
 * The `finish_reason` of a choice; `null` as long as it has none. Some servers send `""` or `"null"`
 * with every chunk instead.
 */
export function readFinishReason({ finish_reason }: Fields): string | null {
  const reason = asText(finish_reason)?.trim();
  return reason && reason !== "null" ? reason : null;
}

/** Whether a model stopped because it reached its token limit, in the words of several vendors. */
export function isTruncated(finishReason: string | null | undefined): boolean {
  return /^(length|max_tokens|model_length)$/i.test(finishReason ?? "");
}

/**
 * Parses the arguments of a tool call; `undefined` if they are not a JSON object, or nested so deeply
 * that what reads them later would overflow the stack. An empty text and `null` are an empty object:
 * many models and gateways send it for a tool without arguments.
 */
export function parseToolArguments(text: string): Fields | undefined {
  if (["", "null"].includes(text.trim())) return {};
  return isPlainShape(text) ? parseFields(text) : undefined;
}
