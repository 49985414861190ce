import { SpanKind } from "@opentelemetry/api";
import type { Metrics } from "../../shared/ops/metrics.ts";
import { callOutcomeOf } from "../../shared/ops/observed_provider.ts";
import { withSpan } from "../../shared/ops/tracing.ts";
import type { PricedTokens } from "./prices.ts";
import type { Target } from "./target.ts";

/** Metrics and traces of the service. A command has neither, and does not load them. */
export { createMetrics } from "../../shared/ops/metrics.ts";
export { callersTraceparent } from "../../shared/ops/tracing.ts";

/** Who is called, and what counts the calls. */
interface ObservedModel {
  metrics: Metrics;
  provider: "endpoint" | "judge";
  modelId: string;
}

/**
 * Makes one call to a model, with metrics and a trace span (OpenTelemetry's GenAI conventions).
 * `tokensOf` reads the tokens of a reply; none if they are unknown, which is not 0.
 */
export function observeCall<T>(
  { metrics, provider, modelId }: ObservedModel,
  { call, tokensOf }: {
    call: () => Promise<T>;
    tokensOf: (reply: T) => PricedTokens | null | undefined;
  },
): Promise<T> {
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": modelId,
  };
  return withSpan({ name: `chat ${modelId}`, kind: SpanKind.CLIENT, attributes }, async (span) => {
    const started = performance.now();
    let outcome = "ok";
    let tokens: PricedTokens | null | undefined;
    try {
      const reply = await call();
      tokens = tokensOf(reply);
      if (tokens) {
        span.setAttributes({
          "gen_ai.usage.input_tokens": tokens.input,
          "gen_ai.usage.output_tokens": tokens.output,
        });
      }
      return reply;
    } catch (error) {
      outcome = callOutcomeOf(error);
      throw error;
    } finally {
      metrics.modelCall({
        provider,
        outcome,
        seconds: (performance.now() - started) / 1000,
        inputTokens: tokens?.input ?? 0,
        outputTokens: tokens?.output ?? 0,
      });
    }
  });
}

/** The same target, with metrics and a trace span for each call. */
export function observeTarget(
  target: Target,
  { metrics, modelId }: { metrics: Metrics; modelId: string },
): Target {
  const model = { metrics, provider: "endpoint", modelId } as const;
  return {
    async ask(conversation, signal) {
      const endTurn = metrics.startTurn();
      try {
        return await observeCall(model, {
          call: () => target.ask(conversation, signal),
          tokensOf: ({ usage }) =>
            usage && { input: usage.input_tokens, output: usage.output_tokens },
        });
      } finally {
        endTurn();
      }
    },
  };
}
