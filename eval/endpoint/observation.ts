import type { Metrics } from "../../shared/ops/metrics.ts";
import { observeCall } from "../../shared/ops/observed_provider.ts";
import type { Target } from "./target.ts";

/** Metrics and traces of the service. A command has neither, and does not load them. */
export { createMetrics } from "../../shared/ops/metrics.ts";
export { callersTraceparent, withSpan } from "../../shared/ops/tracing.ts";
export { observeCall };

/** The same target, with metrics and a trace span for each call. */
export function observeTarget(
  target: Target,
  { metrics, modelId, endpoint }: { metrics: Metrics; modelId: string; endpoint: string },
): Target {
  const model = { metrics, provider: "endpoint", model: modelId, address: endpoint };
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
