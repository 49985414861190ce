import type { Metrics } from "../../../shared/ops/metrics.ts";
import type { observeCall } from "../../endpoint/observed_call.ts";
import type { JudgeModel } from "./model.ts";

/** The same judge, with metrics and a trace span for each question. `observe` is `observeCall`. */
export function observeJudge(
  judge: JudgeModel,
  { metrics, observe }: { metrics: Metrics; observe: typeof observeCall },
): JudgeModel {
  const model = { metrics, provider: "judge", modelId: judge.name } as const;
  return {
    ...judge,
    ask: (question, signal) =>
      observe(model, {
        call: () => judge.ask(question, signal),
        tokensOf: ({ tokens }) => tokens,
      }),
  };
}
