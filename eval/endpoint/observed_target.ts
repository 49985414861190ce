import type { Metrics } from "../../shared/ops/metrics.ts";
import { observeCall } from "./observed_call.ts";
import type { Target } from "./target.ts";

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
