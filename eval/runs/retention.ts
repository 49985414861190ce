import type { Logger } from "../../shared/log.ts";
import type { RunStore } from "../store/store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

export interface RetentionOptions {
  store: RunStore;
  log: Logger;
  /** `EVAL_KEEP_DAYS`; unset keeps everything. */
  keepDays: number | undefined;
  now?: () => number;
}

export interface Retention {
  stop(): void;
}

/** Deletes runs that ended more than `keepDays` days ago: now, and once an hour. */
export async function startRetention(
  { store, log, keepDays, now = Date.now }: RetentionOptions,
): Promise<Retention> {
  if (keepDays === undefined) return { stop: () => {} };

  async function sweep(): Promise<void> {
    try {
      const deleted = await store.deleteOlderThan(now() - keepDays! * DAY_MS);
      if (deleted > 0) log.info("old runs were deleted", { runs: deleted, keep_days: keepDays });
    } catch (error) {
      log.error("cannot delete old runs", { error });
    }
  }

  await sweep();
  const timer = setInterval(sweep, HOUR_MS);
  return { stop: () => clearInterval(timer) };
}
