import type { CallClock } from "./call_clock.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { retryAfterMs } from "./diagnosis.ts";

const FIRST_DELAY_MS = 500;
/** Unless a provider asks for a longer one. */
export const LONGEST_DELAY_MS = 8_000;

interface RetryOptions {
  /** Further attempts after the first. */
  retries: number;
  /** `signal` is that of the caller, or of the whole call. */
  clock: Pick<CallClock, "signal" | "remainingMs" | "sleep">;
  diagnose: (error: unknown) => Diagnosis;
  /** True for a failure after which another attempt does not count as a retry. */
  forgive?: (diagnosis: Diagnosis) => boolean;
  /** The longest wait that a provider may ask for; by default what the clock allows. */
  maxWaitMs?: number | undefined;
  /** Called before each further attempt. */
  onRetry?: () => void;
}

/**
 * Attempts a call again if that may help. A wait that the clock or `maxWaitMs` does not allow ends
 * the call at once.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, clock, diagnose, forgive, maxWaitMs = Infinity, onRetry }: RetryOptions,
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
      const asked = diagnosis.answer && retryAfterMs(diagnosis.answer.headers);
      const delay = asked ?? backoffMs(failed);
      if (delay >= clock.remainingMs() || delay > maxWaitMs) throw error;
      await clock.sleep(delay);
      onRetry?.();
    }
  }
}

/** A 429 that waiting does not resolve. */
const NO_QUOTA = /\binsufficient_quota\b/;

/** Includes unreadable answers that are not final: a gateway may have sent or cut them. */
function isWorthRetrying({ failure, answer, isFinal }: Diagnosis): boolean {
  if (isFinal) return false;
  if (NO_QUOTA.test(answer?.body ?? "")) return false;
  const advice = answer?.headers.get("x-should-retry");
  if (advice === "true" || advice === "false") return advice === "true";
  if (failure.kind !== "status") return true;
  return [408, 409, 429].includes(failure.status) || failure.status >= 500;
}

/** Doubles each time, less up to a quarter by chance, so that callers do not return in step. */
function backoffMs(failed: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** failed, LONGEST_DELAY_MS) * (1 - Math.random() / 4);
}
