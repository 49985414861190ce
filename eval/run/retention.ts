import type { Logger } from "../../shared/service/log.ts";
import type { RunStore } from "../store/store.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** How far the difference of two clock readings may be from the time that really passed. */
const DRIFT_MS = 60_000;

interface RetentionOptions {
  store: RunStore;
  log: Logger;
  /** `EVAL_KEEP_DAYS`; if unset, nothing is deleted. */
  keepDays: number | undefined;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Milliseconds of a monotonic clock. */
  elapsed?: () => number;
}

export interface Retention {
  /** One sweep; the service makes one at start and one per hour. Never rejects. */
  sweep(): Promise<void>;
  stop(): void;
}

/**
 * Deletes runs that ended more than `keepDays` days ago: now, and once per hour.
 *
 * Nothing is deleted right after a jump of the clock, because every run would look old. If the clock
 * is far ahead of the last sweep, it must first agree with the monotonic clock until the next sweep.
 */
export async function startRetention(
  { store, log, keepDays, now = Date.now, elapsed = () => performance.now() }: RetentionOptions,
): Promise<Retention> {
  if (keepDays === undefined) return { sweep: () => Promise.resolve(), stop: () => {} };
  const keepMs = keepDays * DAY_MS;
  const longestGapMs = Math.min(2 * DAY_MS, keepMs / 2);
  /** Both clocks after a jump. */
  let jumped: { moment: number; elapsed: number } | undefined;

  async function isTrusted(moment: number): Promise<boolean> {
    const trusted = await store.trustedMoment();
    if (trusted === null || moment - trusted <= longestGapMs) return true;
    const agrees = jumped !== undefined &&
      Math.abs(moment - jumped.moment - (elapsed() - jumped.elapsed)) <= DRIFT_MS;
    if (agrees) return true;
    jumped = { moment, elapsed: elapsed() };
    log.warn(
      "the clock is far ahead of the last sweep: old runs are not deleted before the next sweep",
      {
        last_sweep: new Date(trusted).toISOString(),
        runs: await store.countOlderThan(moment - keepMs),
        keep_days: keepDays,
      },
    );
    return false;
  }

  async function sweep(): Promise<void> {
    try {
      const moment = now();
      if (!await isTrusted(moment)) return;
      jumped = undefined;
      const deleted = await store.deleteOlderThan(moment - keepMs);
      await store.trustMoment(moment);
      if (deleted > 0) log.info("old runs deleted", { runs: deleted, keep_days: keepDays });
    } catch (error) {
      log.error("cannot delete old runs", { error });
    }
  }

  await sweep();
  const timer = setInterval(sweep, HOUR_MS);
  return { sweep, stop: () => clearInterval(timer) };
}
