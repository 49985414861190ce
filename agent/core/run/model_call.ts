import { asFields, defined, type Fields, isFields } from "../../../shared/service/fields.ts";
import { withAttempts } from "../../../shared/providers/adapted_requests.ts";
import { LONGEST_DELAY_MS } from "../../../shared/providers/call_clock.ts";
import { isSameProvider } from "../../../shared/providers/content.ts";
import {
  type CallOptions,
  type ChatMessage,
  type ChatProvider,
  type ChatReply,
  type ChatRequest,
  type ChatUsage,
  ProviderError,
} from "../../../shared/providers/provider.ts";
import type { offerTools } from "./caller_tools.ts";
import { withPlainCallIds } from "./turn_calls.ts";
import type { Emit } from "../agent_message.ts";

/** Settings of a run's model calls. If one is unset, the provider's default applies. */
export interface AgentSettings {
  /** Model calls with tools, at least 1. After them, the model is asked for an answer without. */
  maxSteps: number;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /** Further fields for the provider; see `ChatRequest.extra`. */
  extra?: Record<string, unknown> | undefined;
  /** The same for fields that a provider refuses without tools. */
  toolExtra?: ToolExtra | undefined;
  /** Limit of one tool call. */
  toolTimeoutMs?: number | undefined;
}

interface ToolExtra {
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
}

/** The tools that a model may call. */
interface ToolOffer {
  tools: ReturnType<typeof offerTools>;
  /** The model has not answered yet in this run. */
  isFirst: boolean;
}

/** What the model is asked next. Without an `offer` it may call no tool. */
export function toModelRequest(
  messages: ChatMessage[],
  { model, settings, offer }: {
    model: string;
    settings: AgentSettings;
    offer: ToolOffer | undefined;
  },
): ChatRequest {
  const { temperature, maxTokens, extra } = settings;
  const fields = offer && toolFields(settings, offer);
  return defined({
    model,
    messages,
    ...offer?.tools,
    temperature,
    maxTokens,
    extra: extra || fields ? { ...extra, ...fields } : undefined,
  });
}

/** A forced tool call applies to the first model call only: otherwise the model could never answer. */
function toolFields({ toolExtra }: AgentSettings, { isFirst }: ToolOffer): ToolExtra | undefined {
  if (!toolExtra || isFirst) return toolExtra;
  const { tool_choice: choice, ...rest } = toolExtra;
  if (choice === "auto" || choice === "none") return toolExtra;
  const { type, allowed_tools: allowed } = asFields(choice);
  if (type !== "allowed_tools") return rest;
  return { ...rest, tool_choice: { type, allowed_tools: { ...asFields(allowed), mode: "auto" } } };
}

/** Calls a model once. The answer is streamed if `emit` is given. */
export function callModel(
  request: ChatRequest,
  { provider, signal, emit }: { provider: ChatProvider; emit?: Emit | undefined } & CallOptions,
): Promise<ChatReply> {
  if (!emit) return provider.complete(request, { signal });
  return readStream(provider, { request, options: { signal }, emit });
}

async function readStream(
  provider: ChatProvider,
  { request, options, emit }: { request: ChatRequest; options: CallOptions; emit: Emit },
): Promise<ChatReply> {
  for await (const delta of provider.stream(request, options)) {
    if (delta.type === "reply") return delta.reply;
    await emit(delta.type === "text" ? { ...delta, type: "token" } : delta);
  }
  throw new ProviderError(
    502,
    "provider_error",
    `cannot use the answer of ${provider.name}: the stream ended without a reply`,
    { kind: "unreadable" },
  );
}

/** What a run has cost so far, over all its model calls. Times are in milliseconds. */
export interface RunCost {
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** Parts of the tokens, by the provider's names: `cached_tokens`, `reasoning_tokens`. */
  inputDetails: Record<string, number>;
  outputDetails: Record<string, number>;
  /** Further fields of the usage, by the provider's names: `cost`. */
  usageExtra: Fields;
  modelMs: number;
  toolMs: number;
}

export const NO_COST: RunCost = {
  modelCalls: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  inputDetails: {},
  outputDetails: {},
  usageExtra: {},
  modelMs: 0,
  toolMs: 0,
};

/** Adds one model call. */
export function addModelCall(
  cost: RunCost,
  { usage, ms }: { usage: ChatUsage | null; ms: number },
): RunCost {
  return {
    ...cost,
    modelCalls: cost.modelCalls + 1,
    modelMs: cost.modelMs + ms,
    ...(usage && {
      inputTokens: cost.inputTokens + usage.promptTokens,
      outputTokens: cost.outputTokens + usage.completionTokens,
      inputDetails: addCounts(cost.inputDetails, usage.promptDetails),
      outputDetails: addCounts(cost.outputDetails, usage.completionDetails),
      usageExtra: addCounts(cost.usageExtra, usage.extra),
    }),
  };
}

/** Adds the numbers of two objects, also of nested ones. Of other values the last one is kept. */
function addCounts<Counts extends Fields>(total: Counts, more: Counts | null | undefined): Counts {
  if (!more) return total;
  const sum: Fields = { ...total };
  for (const [name, value] of Object.entries(more)) {
    const before = sum[name];
    if (typeof before === "number" && typeof value === "number") {
      sum[name] = Number((before + value).toPrecision(12)); // 0.1 + 0.2 is 0.3
    } else if (isFields(before) && isFields(value)) sum[name] = addCounts(before, value);
    else sum[name] = value;
  }
  return sum as Counts;
}

/** A provider for one run that falls back to other models. */
export interface FallbackProvider extends ChatProvider {
  /** The model that answered last, or that is being asked now. */
  answeredBy(): string;
}

/**
 * Asks `models` in their order until one is available. The one that answered is asked first for the
 * rest of the run: the models before it would cost their retries at every step. A stream that has
 * begun is not restarted with another model. A model of another provider may refuse call ids that it
 * did not create, so it gets plain ones.
 */
export function createFallback(provider: ChatProvider, models: string[]): FallbackProvider {
  let current = 0;
  function withModel(request: ChatRequest): ChatRequest {
    const model = models[current]!;
    const isOther = (from: string) => !isSameProvider(from, model);
    if (!models.slice(0, current).some(isOther)) return { ...request, model };
    const messages = withPlainCallIds(
      request.messages,
      (from) => from === undefined || isOther(from),
    );
    return { ...request, model, messages };
  }

  /** While there is another model to ask, a long wait is not worth it. */
  function withWait(options: CallOptions = {}): CallOptions {
    return current + 1 < models.length ? { ...options, maxWaitMs: LONGEST_DELAY_MS } : options;
  }
  const impatient: ChatProvider = {
    name: provider.name,
    complete: (request, options) => provider.complete(request, withWait(options)),
    stream: (request, options) => provider.stream(request, withWait(options)),
  };

  return {
    name: provider.name,
    ...withAttempts(impatient, {
      first: withModel,
      next(failed, error) {
        if (!isUnavailable(error) || current + 1 >= models.length) throw error;
        current++;
        return withModel(failed);
      },
    }),
    answeredBy: () => models[current]!,
  };
}

/** Rate limited, failing, unreachable or disconnected: another model may be available. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { failure } = error;
  if (failure.kind === "status") return failure.status === 429 || failure.status >= 500;
  return failure.kind === "unreachable" || failure.kind === "interrupted";
}
