import type { CompletionRequest } from "../schemas/chat_completion.ts";
import type { AgentSettings } from "../run/model_call.ts";

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
export function toSettings(body: CompletionRequest): Partial<AgentSettings> {
  const { temperature, max_tokens, max_completion_tokens } = body;
  const extra = setFields(body, (name) => !OWN.has(name));
  // The caller's limit replaces the configured one, also if it has the newer name.
  const hasLimit = isSet(max_tokens) || isSet(max_completion_tokens);
  const maxTokens = isLimit(max_tokens) ? max_tokens : undefined;
  return {
    ...(isSet(temperature) && { temperature }),
    ...(hasLimit && { maxTokens }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** The fields of a request that goes to the provider as it is. */
export function toPlainFields(body: CompletionRequest): Record<string, unknown> {
  return setFields(
    body,
    (name) => !["model", "messages", "stream", "stream_options"].includes(name),
  );
}

function setFields(body: CompletionRequest, isWanted: (name: string) => boolean) {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) =>
      isWanted(name) && isSet(value) && !(isTokenLimit(name) && !isLimit(value))
    ),
  );
}

function isTokenLimit(name: string): boolean {
  return name === "max_tokens" || name === "max_completion_tokens";
}

function isLimit(value: unknown): value is number {
  return isSet(value) && value !== NO_LIMIT;
}

function isSet<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
