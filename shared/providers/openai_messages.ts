import type { DecodedAnswer } from "../http/utf8.ts";
import type {
  ChatMessage,
  ChatReply,
  ChatRequest,
  ChatUsage,
  ListedModel,
  ToolCall,
} from "./provider.ts";

type Fields = Record<string, unknown>;

/** An answer with more tool calls than any model makes is unreadable. */
export const MAX_TOOL_CALLS = 10_000;

/** A request in OpenAI's shape. Unset fields are left out, so that the provider decides. */
export function toCompletionParams(request: ChatRequest) {
  const { model, messages, tools, temperature, maxTokens, seed, extra } = request;
  return {
    ...extra,
    model,
    messages: messages.map(toMessageParam),
    ...(tools?.length && {
      tools: tools.map((tool) => ({ type: "function" as const, function: { ...tool } })),
    }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
  };
}

function toMessageParam(message: ChatMessage) {
  if (message.role === "tool") {
    return { role: message.role, tool_call_id: message.toolCallId, content: message.content };
  }
  if (message.role === "assistant" && message.toolCalls?.length) {
    return {
      role: message.role,
      content: message.content || null,
      tool_calls: message.toolCalls.map((call) => ({
        id: call.id,
        type: "function" as const,
        function: { name: call.name, arguments: call.arguments },
      })),
    };
  }
  return { role: message.role, content: message.content };
}

/** Reads a completion leniently, as providers send it; `undefined` if it is not one. */
export function parseReply(
  { value, encoding }: DecodedAnswer,
  requestedModel: string,
): ChatReply | undefined {
  const completion = asFields(value);
  const choice = asFields(asList(completion.choices)[0]);
  if (!isFields(choice.message)) return undefined;
  const message = choice.message;
  const toolCalls = asList(message.tool_calls);
  if (toolCalls.length > MAX_TOOL_CALLS) return undefined;
  return {
    id: asText(completion.id),
    model: asText(completion.model) ?? requestedModel,
    content: parseContent(message.content),
    refusal: asText(message.refusal),
    toolCalls: toolCalls.map(asFields).map(parseToolCall),
    finishReason: asText(choice.finish_reason),
    usage: parseUsage(completion.usage),
    systemFingerprint: asText(completion.system_fingerprint),
    serviceTier: asText(completion.service_tier),
    logprobs: isFields(choice.logprobs) ? choice.logprobs : null,
    ...(encoding && { encoding }),
  };
}

/** Text, or the text of a list of parts, as providers of reasoning models send it. */
export function parseContent(content: unknown): string | null {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asFields(part).text) ?? "").join("");
}

function parseToolCall(call: Fields): ToolCall {
  const { name, arguments: args } = asFields(call.function);
  return {
    id: asText(call.id) || newToolCallId(),
    name: asText(name) ?? "",
    arguments: parseArguments(args),
  };
}

/** Some providers send the arguments as an object instead of as its JSON. */
export function parseArguments(args: unknown): string {
  return isFields(args) ? JSON.stringify(args) : asText(args) ?? "";
}

/** For a call that came without an id: 9 letters or digits, the form that every provider accepts. */
export function newToolCallId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 9);
}

/** Token counts, if the provider sent any. */
export function parseUsage(usage: unknown): ChatUsage | null {
  const { prompt_tokens, completion_tokens, total_tokens, ...details } = asFields(usage);
  const counts = [prompt_tokens, completion_tokens, total_tokens];
  if (!counts.some((count) => typeof count === "number")) return null;
  const promptTokens = asCount(prompt_tokens) ?? 0;
  const completionTokens = asCount(completion_tokens) ?? 0;
  return {
    promptTokens,
    completionTokens,
    totalTokens: asCount(total_tokens) ?? promptTokens + completionTokens,
    promptDetails: parseDetails(details.prompt_tokens_details),
    completionDetails: parseDetails(details.completion_tokens_details),
  };
}

function parseDetails(details: unknown): Record<string, number> | null {
  const numeric = Object.entries(asFields(details))
    .filter((entry): entry is [string, number] => asCount(entry[1]) !== undefined);
  return numeric.length > 0 ? Object.fromEntries(numeric) : null;
}

/** `{data: [{id, …}]}`; `undefined` if it is not such a list. Entries without an id are dropped. */
export function parseModels(body: unknown): ListedModel[] | undefined {
  const { data } = asFields(body);
  if (!Array.isArray(data)) return undefined;
  return data.map(asFields).flatMap((model) => {
    const id = asText(model.id);
    if (!id) return [];
    const names = [model.name, model.display_name, model.suffix];
    return [{ id, name: names.map((name) => asText(name)?.trim()).find(Boolean) ?? id }];
  });
}

function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
