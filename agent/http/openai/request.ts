import { unsupportedField } from "../../../shared/service/errors.ts";
import { pickExtra } from "../../../shared/providers/content.ts";
import {
  asFields,
  asText,
  defined,
  filterFields,
  isFields,
} from "../../../shared/service/fields.ts";
import { KNOWN_FIELDS, parseToolCall } from "../../../shared/providers/openai_messages.ts";
import type { ChatMessage, ToolDefinition } from "../../../shared/providers/provider.ts";
import type { CompletionMessage, CompletionRequest } from "../schemas/chat_completion.ts";
import { type CallerMessage, readSentFields, splitPrompt } from "../../core/run/caller_messages.ts";
import type { AgentSettings } from "../../core/run/model_call.ts";
import type { PreparedRun } from "../../core/run/runner.ts";
import { missingModel } from "../../core/models/choice.ts";

/** The request of a completion, without its body. */
export interface CompletionCaller {
  headers: Headers;
  /** See `callerOf`. */
  caller: string;
  /** The field of the request that has the conversation, for errors; `messages` if it is unset. */
  field?: string;
}

/** A run, and whether its caller wants JSON; see `withoutAsides`. */
export interface OpenedCompletion {
  run: PreparedRun;
  isJson: boolean;
}

/**
 * An OpenAI request as input of a run. The system messages that it begins with replace the service's
 * own prompt. Throws 400 if the caller wants several choices, or has tools that the agent cannot
 * offer.
 */
export function toConversation(body: CompletionRequest) {
  refuseChoices(body);
  refuseFunctions(body);
  const { systemPrompt, rest } = splitPrompt(body.messages.map(toCallerMessage));
  return {
    messages: rest,
    systemPrompt,
    settings: { ...toSettings(body), ...readToolFields(body) },
    callerTools: readTools(body),
  };
}

function refuseChoices({ n }: CompletionRequest): void {
  if ((n ?? 1) === 1) return;
  throw unsupportedField("n", "a request has one answer; send it several times for more");
}

/** `functions` is the form of 2023 of `tools`. */
function refuseFunctions({ functions }: CompletionRequest): void {
  if (!functions?.length) return;
  throw unsupportedField("functions", "send them as tools");
}

function toCallerMessage(message: CompletionMessage): CallerMessage {
  const said = toChatMessage(message);
  return said.role === "tool" ? { ...said, name: asText(message.name) ?? undefined } : said;
}

function toChatMessage(message: CompletionMessage): ChatMessage {
  const { content } = message;
  if (message.role === "tool") return { role: "tool", content, toolCallId: message.tool_call_id };
  if (message.role === "function") return { role: "tool", content, toolCallId: message.name };
  if (message.role === "assistant") return toAssistantMessage(message);
  const extra = pickExtra(message, SAID);
  return defined({ role: isSystem(message) ? "system" : "user", content, extra });
}

/** The fields of a user's or a system message that are read here. */
const SAID: ReadonlySet<string> = new Set(["role", "content"]);

/** With the fields that its provider sent. Without `from_model` they belong to the model asked. */
function toAssistantMessage(message: Extract<CompletionMessage, { role: "assistant" }>) {
  const toolCalls = (message.tool_calls ?? []).map(parseToolCall);
  return {
    role: "assistant" as const,
    ...readSentFields(message, { known: KNOWN_FIELDS, content: message.content }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function isSystem({ role }: CompletionMessage): boolean {
  return role === "system" || role === "developer";
}

/** The caller's functions, with all their fields. Throws 400 for tools of another kind. */
function readTools({ tools }: CompletionRequest): ToolDefinition[] {
  return (tools ?? []).map((tool, index) => {
    const { type, function: called } = asFields(tool);
    if (type !== "function") {
      throw unsupportedField(`tools.${index}.type`, "only functions can be called");
    }
    const { name: given, description: text, parameters, ...more } = asFields(called);
    const name = asText(given);
    if (!name) throw unsupportedField(`tools.${index}.function.name`, "it is missing");
    const description = asText(text);
    return defined({
      ...more,
      name,
      description: description?.trim() ? description : undefined,
      parameters: isFields(parameters) ? parameters : { type: "object", properties: {} },
    });
  });
}

/** The fields about tools, which the provider gets only together with tools. */
function readToolFields(
  { tool_choice, parallel_tool_calls }: CompletionRequest,
): Partial<AgentSettings> {
  const isGiven = typeof parallel_tool_calls === "boolean";
  const toolExtra = defined({
    tool_choice: tool_choice ?? undefined,
    parallel_tool_calls: isGiven ? parallel_tool_calls : undefined,
  });
  return Object.keys(toolExtra).length > 0 ? { toolExtra } : {};
}

/** Ends the model id of a request that the model answers alone. */
const SUFFIX = ":plain";

/**
 * Who answers a request: the agent, or the model alone if it is plain, by the header
 * `x-agent-tools: off` or by the model's suffix `:plain`. `model` is the id without that suffix.
 */
export function readMode(model: string, headers: Headers): { model: string; isPlain: boolean } {
  const id = model.trim();
  if (id.endsWith(SUFFIX)) return { model: id.slice(0, -SUFFIX.length), isPlain: true };
  const isPlain = headers.get("x-agent-tools")?.trim().toLowerCase() === "off";
  return { model: id, isPlain };
}

/** Throws 400 `missing_model_id` for a body without a model, before its schema has checked it. */
export function requireModel(body: unknown): void {
  if (isFields(body) && (body.model ?? null) === null) throw missingModel("the field model");
}

/** The fields of a request that the service reads itself. All others are the provider's. */
const OWN = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "n",
  "temperature",
  "max_tokens",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
]);

/** `max_tokens` of a caller who wants no limit, as some local servers define it. */
const NO_LIMIT = -1;

/** The settings of a run from a request: what the service does not use goes to the provider. */
function toSettings(body: CompletionRequest): Partial<AgentSettings> {
  const { temperature, max_tokens, max_completion_tokens } = body;
  const extra = filterFields<unknown>(
    body,
    (value, name) =>
      !OWN.has(name) && isSet(value) && (isLimit(value) || name !== "max_completion_tokens"),
  );
  // The caller's limit replaces the configured one, under either name.
  const hasLimit = isSet(max_tokens) || isSet(max_completion_tokens);
  const maxTokens = isLimit(max_tokens) ? max_tokens : undefined;
  return {
    ...(isSet(temperature) && { temperature }),
    ...(hasLimit && { maxTokens }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function isLimit(value: unknown): value is number {
  return isSet(value) && value !== NO_LIMIT;
}

function isSet<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
