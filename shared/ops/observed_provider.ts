import { type Attributes, SpanKind } from "@opentelemetry/api";
import { AppError, isAbort } from "../errors.ts";
import type { ChatProvider, ChatReply, ChatRequest } from "../providers/provider.ts";
import type { Metrics } from "./metrics.ts";
import { failSpan, startSpan, withSpan } from "./tracing.ts";

/** A call to a model. */
interface ModelCall {
  metrics: Metrics;
  /** One of a fixed set; see `Metrics`. */
  provider: string;
  model: string;
  /** Further attributes of the request's span. */
  attributes?: Attributes;
}

type Tokens = { input: number; output: number } | null | undefined;

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

/** The same provider, whose calls are counted and traced. Each counts as a turn while it runs. */
export function observeProvider<P extends ChatProvider>(provider: P, metrics: Metrics): P {
  const callOf = ({ model, temperature, maxTokens, seed }: ChatRequest): ModelCall => ({
    metrics,
    provider: provider.name,
    model,
    attributes: {
      ...(temperature !== undefined && { "gen_ai.request.temperature": temperature }),
      ...(maxTokens !== undefined && { "gen_ai.request.max_tokens": maxTokens }),
      ...(seed !== undefined && { "gen_ai.request.seed": seed }),
    },
  });

  const complete: ChatProvider["complete"] = async (request, options) => {
    const endTurn = metrics.startTurn();
    try {
      return await observeCall(callOf(request), {
        call: () => provider.complete(request, options),
        tokensOf,
        describe: describeReply,
      });
    } finally {
      endTurn();
    }
  };

  const stream: ChatProvider["stream"] = async function* (request, options) {
    const call = callOf(request);
    const span = startSpan(spanOf(call));
    const endTurn = metrics.startTurn();
    const end = startCall(call);
    let outcome = "left"; // if the reader stops before the reply is complete
    let tokens: Tokens;
    try {
      for await (const delta of provider.stream(request, options)) {
        if (delta.type === "reply") {
          outcome = "ok";
          tokens = tokensOf(delta.reply);
          span.setAttributes({ ...describeReply(delta.reply), ...describeTokens(tokens) });
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
function startCall({ metrics, provider }: ModelCall) {
  const started = performance.now();
  return (outcome: string, tokens?: Tokens) =>
    metrics.modelCall({
      provider,
      outcome,
      seconds: (performance.now() - started) / 1000,
      inputTokens: tokens?.input ?? 0,
      outputTokens: tokens?.output ?? 0,
    });
}

/** How a call failed: one of a bounded set, as metric labels must be, and never `ok`. */
function outcomeOf(error: unknown): string {
  if (isAbort(error)) return "left";
  return error instanceof AppError ? error.code : "internal";
}

function spanOf({ provider, model, attributes }: ModelCall) {
  return {
    name: `chat ${model}`,
    kind: SpanKind.CLIENT,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      ...attributes,
    },
  };
}

function tokensOf({ usage }: ChatReply): Tokens {
  return usage && { input: usage.promptTokens, output: usage.completionTokens };
}

function describeTokens(tokens: Tokens): Attributes {
  if (!tokens) return {};
  return { "gen_ai.usage.input_tokens": tokens.input, "gen_ai.usage.output_tokens": tokens.output };
}

function describeReply({ id, model, finishReason }: ChatReply): Attributes {
  return {
    "gen_ai.response.model": model,
    ...(id !== null && { "gen_ai.response.id": id }),
    ...(finishReason !== null && { "gen_ai.response.finish_reasons": [finishReason] }),
  };
}
