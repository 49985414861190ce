import type { CallClock } from "./call_clock.ts";
import { type Diagnosis, retryAfterMs } from "./failure.ts";

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;

export interface RetryOptions {
  /** Further attempts after the first. */
  retries: number;
  clock: CallClock;
  diagnose: (error: unknown) => Diagnosis;
  /** True for a failure that is worth another attempt without counting as one. */
  forgive?: (diagnosis: Diagnosis) => boolean;
}

/**
 * Attempts a call again if that may help. The SDK's own retries are switched off for this: their
 * time is not bounded as a whole, and they answer a `retry-after` of over a minute by asking again
 * within a second. Here a wait that the clock does not allow ends the call at once.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, clock, diagnose, forgive }: RetryOptions,
): Promise<T> {
  let counted = 0;
  for (let failed = 0;; failed++) {
    try {
      return await attempt();
    } catch (error) {
      if (clock.signal.aborted) throw error;
      const diagnosis = diagnose(error);
      if (!isWorthRetrying(diagnosis)) throw error;
      if (!forgive?.(diagnosis) && counted++ >= retries) throw error;
      const asked = diagnosis.headers && retryAfterMs(diagnosis.headers);
      const delay = asked ?? backoffMs(failed);
      if (delay >= clock.remainingMs()) throw error;
      await clock.sleep(delay);
    }
  }
}

/** Also an unreadable answer, unless it is final: it may come from a gateway, or be cut off. */
function isWorthRetrying({ failure, headers, isFinal }: Diagnosis): boolean {
  if (isFinal) return false;
  const advice = headers?.get("x-should-retry");
  if (advice === "true" || advice === "false") return advice === "true";
  if (failure.kind !== "status") return true;
  return [408, 409, 429].includes(failure.status) || failure.status >= 500;
}

/** Doubles each time, less up to a quarter by chance, so that callers do not return in step. */
function backoffMs(failed: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** failed, LONGEST_DELAY_MS) * (1 - Math.random() / 4);
}
