import type { Logger } from "../../shared/log.ts";
import type { RunStore } from "../store/store.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** How far two readings of the clock may differ from the time between them. */
const DRIFT_MS = 60_000;

export interface RetentionOptions {
  store: RunStore;
  log: Logger;
  /** `EVAL_KEEP_DAYS`; unset keeps everything. */
  keepDays: number | undefined;
  /** `EVAL_TRUST_CLOCK`: deletes at once, whatever the clock did. */
  trustsClock?: boolean;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Milliseconds of a clock that nobody sets. */
  elapsed?: () => number;
}

export interface Retention {
  /** One sweep; the service makes one at the start and one per hour. Never rejects. */
  sweep(): Promise<void>;
  stop(): void;
}

/**
 * Deletes runs that ended more than `keepDays` days ago: now, and once an hour.
 *
 * Nothing is deleted at a jump of the clock, which would take every run for an old one: if it is far
 * ahead of the last sweep, it must first have gone on evenly until the next one.
 */
export async function startRetention(
  { store, log, keepDays, trustsClock = false, now = Date.now, elapsed = () => performance.now() }:
    RetentionOptions,
): Promise<Retention> {
  if (keepDays === undefined) return { sweep: () => Promise.resolve(), stop: () => {} };
  const keepMs = keepDays * DAY_MS;
  const longestGapMs = Math.min(2 * DAY_MS, keepMs / 2);
  /** The clock after a jump, and when that was by the clock that nobody sets. */
  let jumped: { moment: number; elapsed: number } | undefined;

  async function isTrusted(moment: number): Promise<boolean> {
    const trusted = await store.trustedMoment();
    if (trustsClock || trusted === null || moment - trusted <= longestGapMs) return true;
    const agrees = jumped !== undefined &&
      Math.abs(moment - jumped.moment - (elapsed() - jumped.elapsed)) <= DRIFT_MS;
    if (agrees) return true;
    jumped = { moment, elapsed: elapsed() };
    log.warn(
      "the clock is far ahead of the last sweep: old runs are deleted at the next one only",
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
      if (deleted > 0) log.info("old runs were deleted", { runs: deleted, keep_days: keepDays });
    } catch (error) {
      log.error("cannot delete old runs", { error });
    }
  }

  await sweep();
  const timer = setInterval(sweep, HOUR_MS);
  return { sweep, stop: () => clearInterval(timer) };
}
