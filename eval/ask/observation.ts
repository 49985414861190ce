import {
  describeInput,
  describeOutput,
  observeCall,
} from "../../shared/service/ops/observed_provider.ts";
import type { Metrics } from "../../shared/service/ops/metrics.ts";
import type { Target } from "./target.ts";

/** Metrics and traces of the service. A command has neither, and does not load them. */
export { createMetrics } from "../../shared/service/ops/metrics.ts";
export { callersTraceparent, withSpan } from "../../shared/service/ops/tracing.ts";
export { observeCall };

/** A target with metrics and a trace span for each call. */
export function observeTarget(
  target: Target,
  { metrics, modelId, endpoint, recordsMessages }: {
    metrics: Metrics;
    modelId: string;
    endpoint: string;
    /** Spans have what was said. */
    recordsMessages: boolean;
  },
): Target {
  const model = { metrics, provider: "endpoint", model: modelId, address: endpoint };
  return {
    async ask(conversation, signal) {
      const endTurn = metrics.startTurn();
      try {
        const attributes = recordsMessages ? describeInput(conversation) : {};
        return await observeCall({ ...model, attributes }, {
          call: () => target.ask(conversation, signal),
          tokensOf: ({ usage }) =>
            usage && { input: usage.input_tokens, output: usage.output_tokens },
          ...(recordsMessages && {
            describe: ({ content, finishReason }) => describeOutput({ content, finishReason }),
          }),
        });
      } finally {
        endTurn();
      }
    },
  };
}
