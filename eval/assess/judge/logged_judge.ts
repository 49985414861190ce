import type { Logger } from "../../../shared/log.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { shorten } from "../../../shared/text.ts";
import type { JudgeModel } from "./model.ts";
import type { Metrics } from "../../../shared/ops/metrics.ts";
import type { observeCall } from "../../endpoint/observation.ts";

/** If the judge is down, every turn fails for the same reason. */
const LOG_MS = 60_000;
/** The description of an unreadable answer may list many labels. */
const MOST_CHARACTERS = 500;

/**
 * Logs why the judge cannot be asked or its answer cannot be read, at most once per minute and kind
 * of failure. Results have only the codes `judge_unavailable` and `judge_unreadable`.
 */
export function logJudge(
  judge: JudgeModel,
  log: Logger,
  now: () => number = () => performance.now(),
): JudgeModel {
  const logged = new Map<string, number>();

  function report(message: string, { code, detail }: { code: string; detail: string }): void {
    const last = logged.get(code) ?? -Infinity;
    if (now() - last < LOG_MS) return;
    logged.set(code, now());
    log.warn(message, { model: judge.name, code, detail });
  }

  return {
    ...judge,
    onUnreadable(fault) {
      const detail = shorten(fault, MOST_CHARACTERS, "…");
      report("the judge's answer cannot be read", { code: "judge_unreadable", detail });
    },
    async ask(question, signal) {
      try {
        return await judge.ask(question, signal);
      } catch (error) {
        if (error instanceof ProviderError) {
          report("the judge cannot be asked", { code: error.code, detail: error.message });
        }
        throw error;
      }
    },
  };
}

/** Adds metrics and a trace span for each question. `observe` is `observeCall`. */
export function observeJudge(
  judge: JudgeModel,
  { metrics, observe }: { metrics: Metrics; observe: typeof observeCall },
): JudgeModel {
  const model = { metrics, provider: "judge", model: judge.name };
  return {
    ...judge,
    ask: (question, signal) =>
      observe(model, {
        call: () => judge.ask(question, signal),
        tokensOf: ({ tokens }) => tokens,
      }),
  };
}
