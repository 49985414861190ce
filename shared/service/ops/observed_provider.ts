import { type Attributes, metrics as openTelemetry, SpanKind } from "@opentelemetry/api";
import { AppError, isAbort } from "../errors.ts";
import type {
  ChatContent,
  ChatProvider,
  ChatReply,
  ChatRequest,
  ToolCall,
} from "../../providers/provider.ts";
import type { Metrics } from "./metrics.ts";
import { failSpan, startSpan, withSpan } from "./tracing.ts";
import { textOf } from "../../providers/content.ts";

/** A call to a model. */
interface ModelCall {
  metrics: Metrics;
  /** One of a fixed set; see `Metrics`. */
  provider: string;
  model: string;
  /** The address of the model's server. */
  address?: string | undefined;
  /** Further attributes of the request's span. */
  attributes?: Attributes;
}

/** `input` includes what was read from and written to a cache, `output` the reasoning. */
type Tokens =
  | {
    input: number;
    output: number;
    cacheRead?: number | undefined;
    cacheWrite?: number | undefined;
    reasoning?: number | undefined;
  }
  | null
  | undefined;

const BY_TIME = {
  unit: "s",
  advice: {
    explicitBucketBoundaries: [
      ...[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
    ],
  },
};
const BY_TOKENS = {
  unit: "{token}",
  advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 4 ** power) },
};
/** These go to Deno's OpenTelemetry if `OTEL_DENO=true`; `/metrics` has ours. */
const meter = openTelemetry.getMeter("assay");
const duration = meter.createHistogram("gen_ai.client.operation.duration", BY_TIME);
const tokenUsage = meter.createHistogram("gen_ai.client.token.usage", BY_TOKENS);

/**
 * Makes one call to a model, with metrics and a trace span (OpenTelemetry's GenAI conventions).
 * `tokensOf` reads the tokens of a reply; none if they are unknown, which is not 0.
 */
export function observeCall<T>(
  model: ModelCall,
  { call, tokensOf, describe }: {
    call: () => Promise<T>;
    tokensOf: (reply: T) => Tokens;
    /** Further attributes of the reply. */
    describe?: (reply: T) => Attributes;
  },
): Promise<T> {
  return withSpan(spanOf(model), async (span) => {
    const end = startCall(model);
    try {
      const reply = await call();
      const tokens = tokensOf(reply);
      span.setAttributes({ ...describe?.(reply), ...describeTokens(tokens) });
      end("ok", tokens);
      return reply;
    } catch (error) {
      end(outcomeOf(error));
      throw error;
    }
  });
}

/**
 * The same provider, whose calls are counted and traced. Each counts as a turn while it runs. Spans
 * have what was said only with `recordsMessages`.
 */
export function observeProvider<P extends ChatProvider>(
  provider: P,
  { metrics, recordsMessages }: { metrics: Metrics; recordsMessages: boolean },
): P {
  const describe = (reply: ChatReply): Attributes => ({
    ...describeReply(reply),
    ...(recordsMessages && describeOutput(reply)),
  });
  const callOf = ({ model, messages, temperature, maxTokens, seed }: ChatRequest): ModelCall => ({
    metrics,
    provider: provider.name,
    model,
    address: provider.address,
    attributes: {
      "gen_ai.request.temperature": temperature,
      "gen_ai.request.max_tokens": maxTokens,
      "gen_ai.request.seed": seed,
      ...(recordsMessages && describeInput(messages)),
    },
  });

  const complete: ChatProvider["complete"] = async (request, options) => {
    const endTurn = metrics.startTurn();
    try {
      return await observeCall(callOf(request), {
        call: () => provider.complete(request, options),
        tokensOf,
        describe,
      });
    } finally {
      endTurn();
    }
  };

  const stream: ChatProvider["stream"] = async function* (request, options) {
    const call = callOf(request);
    const span = startSpan(spanOf(call));
    span.setAttribute("gen_ai.request.stream", true);
    const started = performance.now();
    let hasStarted = false;
    const endTurn = metrics.startTurn();
    const end = startCall(call);
    let outcome = "left"; // if the reader stops before the reply is complete
    let tokens: Tokens;
    try {
      for await (const delta of provider.stream(request, options)) {
        if (!hasStarted) {
          const seconds = (performance.now() - started) / 1000;
          span.setAttribute("gen_ai.response.time_to_first_chunk", seconds);
        }
        hasStarted = true;
        if (delta.type === "reply") {
          outcome = "ok";
          tokens = tokensOf(delta.reply);
          span.setAttributes({ ...describe(delta.reply), ...describeTokens(tokens) });
        }
        yield delta;
      }
    } catch (error) {
      outcome = outcomeOf(error);
      failSpan(span, error);
      throw error;
    } finally {
      endTurn();
      end(outcome, tokens);
      span.end();
    }
  };

  return { ...provider, complete, stream };
}

/** Returns the function that counts the call when it has ended. */
function startCall(call: ModelCall) {
  const started = performance.now();
  return (outcome: string, tokens?: Tokens) => {
    const seconds = (performance.now() - started) / 1000;
    const { input = 0, output = 0 } = tokens ?? {};
    const { metrics, provider } = call;
    metrics.modelCall({ provider, outcome, seconds, inputTokens: input, outputTokens: output });
    const attributes = attributesOf(call);
    const failure = outcome === "ok" ? {} : { "error.type": outcome };
    duration.record(seconds, { ...attributes, ...failure });
    if (!tokens) return;
    tokenUsage.record(input, { ...attributes, "gen_ai.token.type": "input" });
    tokenUsage.record(output, { ...attributes, "gen_ai.token.type": "output" });
  };
}

/** How a call failed: one of a bounded set, as metric labels must be, and never `ok`. */
function outcomeOf(error: unknown): string {
  if (isAbort(error)) return "left";
  return error instanceof AppError ? error.code : "internal";
}

function spanOf(call: ModelCall) {
  return {
    name: `chat ${call.model}`,
    kind: SpanKind.CLIENT,
    attributes: { ...attributesOf(call), ...call.attributes },
  };
}

function attributesOf({ provider, model, address }: ModelCall): Attributes {
  const url = address === undefined ? undefined : URL.parse(address);
  const port = url?.port || (url?.protocol === "http:" ? 80 : 443);
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    ...(url && { "server.address": url.hostname, "server.port": Number(port) }),
  };
}

function tokensOf({ usage }: ChatReply): Tokens {
  if (!usage) return usage;
  const counts = { ...usage.extra, ...usage.promptDetails } as Record<string, number | undefined>;
  return {
    input: usage.promptTokens,
    output: usage.completionTokens,
    cacheRead: counts.cached_tokens ?? counts.cache_read_input_tokens,
    cacheWrite: counts.cache_write_tokens ?? counts.cache_creation_input_tokens,
    reasoning: usage.completionDetails?.reasoning_tokens,
  };
}

function describeTokens(tokens: Tokens): Attributes {
  if (!tokens) return {};
  return {
    "gen_ai.usage.input_tokens": tokens.input,
    "gen_ai.usage.output_tokens": tokens.output,
    "gen_ai.usage.cache_read.input_tokens": tokens.cacheRead,
    "gen_ai.usage.cache_write.input_tokens": tokens.cacheWrite,
    "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
  };
}

function describeReply({ id, model, finishReason }: ChatReply): Attributes {
  return {
    "gen_ai.response.model": model,
    "gen_ai.response.id": id ?? undefined,
    "gen_ai.response.finish_reasons": finishReason === null ? undefined : [finishReason],
  };
}

/** A message, as services and judges write it. */
interface Said {
  role: string;
  content: ChatContent | null;
  toolCalls?: ToolCall[];
  toolCallId?: string;
}

/** What a model was told, in the form of OpenTelemetry's GenAI conventions. Media are left out. */
export function describeInput(messages: readonly Said[]): Attributes {
  return { "gen_ai.input.messages": JSON.stringify(messages.map(toMessage)) };
}

/** What it answered. */
export function describeOutput(
  { finishReason, ...reply }: Omit<Said, "role"> & { finishReason?: string | null | undefined },
): Attributes {
  const message = {
    ...toMessage({ role: "assistant", ...reply }),
    finish_reason: finishReason ?? "stop",
  };
  return { "gen_ai.output.messages": JSON.stringify([message]) };
}

function toMessage({ role, content, toolCalls = [], toolCallId: id }: Said) {
  const text = textOf(content ?? "");
  const said = id === undefined
    ? { type: "text", content: text }
    : { type: "tool_call_response", id, response: text };
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    type: "tool_call",
    id,
    name,
    arguments: given,
  }));
  return { role, parts: [...(text || id !== undefined ? [said] : []), ...calls] };
}
