import { type Diagnosis, retryAfterMs } from "./diagnosis.ts";

/**
 * Ends one call to a provider: when its caller leaves, or when it has waited too long. The clock runs
 * from the start; whoever creates one must `stop` it.
 */
export interface CallClock {
  /** Aborts at either end. Everything that the call awaits takes it. */
  readonly signal: AbortSignal;
  isTimedOut(): boolean;
  /** Whole waiting time left, in milliseconds. */
  remainingMs(): number;
  /** Stops counting until the next `restart`, for time that the provider is not responsible for. */
  pause(): void;
  /** Counts from here on, up to `maxMs` if that is less than the limit of the call. */
  restart(maxMs?: number): void;
  /** Rejects when the call ends first. */
  sleep(ms: number): Promise<void>;
  /** Ends whatever still runs under `signal` and leaves no timer behind. */
  stop(): void;
}

/** Created once: every call ends with it, and creating one takes some 15 µs. */
const ENDED = new DOMException("the call has ended", "AbortError");

export interface CallClockOptions {
  /**
   * How long the call may take as a whole, however often it is restarted; pauses count. Without it
   * a stream that sends a piece now and then would never end.
   */
  totalMs?: number;
}

/** `caller` is the signal of the request that the call is made for. */
export function startCallClock(
  timeoutMs: number,
  caller?: AbortSignal,
  { totalMs = Infinity }: CallClockOptions = {},
): CallClock {
  const lastMoment = performance.now() + totalMs;
  const controller = new AbortController();
  let isTimedOut = false;
  let isPaused = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer fires. It is not set with each restart: a stream has thousands of them. */
  let firesAt = Infinity;
  let endsAt = 0;

  const leave = () => controller.abort(caller?.reason);
  const remainingMs = () => endsAt - performance.now();
  function restart(maxMs = Infinity): void {
    isPaused = false;
    endsAt = Math.min(performance.now() + Math.min(timeoutMs, maxMs), lastMoment);
    if (endsAt < firesAt) arm();
  }
  function arm(): void {
    clearTimeout(timer);
    firesAt = endsAt;
    timer = setTimeout(look, remainingMs());
  }
  function look(): void {
    const isOver = endsAt <= firesAt;
    firesAt = Infinity;
    if (isPaused) return;
    if (!isOver) return arm();
    isTimedOut = true;
    controller.abort();
  }

  if (caller?.aborted) leave();
  else caller?.addEventListener("abort", leave);
  restart();

  return {
    signal: controller.signal,
    isTimedOut: () => isTimedOut,
    remainingMs,
    pause: () => void (isPaused = true),
    restart,
    sleep: (ms) => sleep(ms, controller.signal),
    stop() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", leave);
      controller.abort(ENDED);
    },
  };
}

/** Rejects with the reason of `signal` if it aborts first. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

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
