import type { Logger } from "../../../shared/log.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import type { JudgeModel } from "./model.ts";

/** Every turn fails for the same reason if the judge is down. */
const LOG_MS = 60_000;

/**
 * The same judge; why it cannot be asked is logged, at most once a minute for each kind of failure.
 * Results have only the code `judge_unavailable`.
 */
export function logJudge(
  judge: JudgeModel,
  log: Logger,
  now: () => number = () => performance.now(),
): JudgeModel {
  const logged = new Map<string, number>();

  function report({ code, message }: ProviderError): void {
    const last = logged.get(code) ?? -Infinity;
    if (now() - last < LOG_MS) return;
    logged.set(code, now());
    log.warn("the judge cannot be asked", { model: judge.name, code, detail: message });
  }

  return {
    ...judge,
    async ask(question, signal) {
      try {
        return await judge.ask(question, signal);
      } catch (error) {
        if (error instanceof ProviderError) report(error);
        throw error;
      }
    },
  };
}
