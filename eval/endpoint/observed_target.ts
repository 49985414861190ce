import { SpanKind } from "@opentelemetry/api";
import type { Metrics } from "../../shared/ops/metrics.ts";
import { callOutcomeOf } from "../../shared/ops/observed_provider.ts";
import { withSpan } from "../../shared/ops/tracing.ts";
import type { Target } from "./target.ts";

/** The same target, with metrics and a trace span for each call. */
export function observeTarget(
  target: Target,
  { metrics, modelId }: { metrics: Metrics; modelId: string },
): Target {
  const span = {
    name: `chat ${modelId}`,
    kind: SpanKind.CLIENT,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "endpoint",
      "gen_ai.request.model": modelId,
    },
  };
  return {
    ask: (conversation, signal) =>
      withSpan(span, async (span) => {
        const started = performance.now();
        const endTurn = metrics.startTurn();
        let outcome = "ok";
        let tokens = { input_tokens: 0, output_tokens: 0 };
        try {
          const reply = await target.ask(conversation, signal);
          if (!reply.usage) return reply; // unknown, which is not 0
          tokens = reply.usage;
          span.setAttributes({
            "gen_ai.usage.input_tokens": tokens.input_tokens,
            "gen_ai.usage.output_tokens": tokens.output_tokens,
          });
          return reply;
        } catch (error) {
          outcome = callOutcomeOf(error);
          throw error;
        } finally {
          endTurn();
          metrics.modelCall({
            provider: "endpoint",
            outcome,
            seconds: (performance.now() - started) / 1000,
            inputTokens: tokens.input_tokens,
            outputTokens: tokens.output_tokens,
          });
        }
      }),
  };
}
