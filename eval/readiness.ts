import type { Check } from "../shared/ops/operations.ts";
import type { RunManager } from "./run/manager.ts";
import type { RunStore } from "./store/store.ts";
import { StoreFault } from "./store/store_fault.ts";

/** One write answers everybody who asks within this time. */
const SHARED_MS = 2000;

/**
 * Whether the database takes writes, and its path still names the file that is open. It really
 * writes, at most once in two seconds: many probes at once cost what one costs.
 */
export function checkStore(
  store: Pick<RunStore, "checkWrite">,
  { sharedMs = SHARED_MS } = {},
): Check {
  let checked: { at: number; finding: Promise<string | undefined> } | undefined;

  async function look(): Promise<string | undefined> {
    try {
      await store.checkWrite();
      return undefined;
    } catch (error) {
      const isGone = error instanceof StoreFault && error.isMissing;
      return isGone
        ? "the database file was deleted or replaced"
        : "the database cannot be written";
    }
  }

  return () => {
    const now = performance.now();
    if (!checked || now - checked.at >= sharedMs) checked = { at: now, finding: look() };
    return checked.finding;
  };
}

/** A service that stops begins no further run. */
export function checkRuns(runs: RunManager): Check {
  return () => runs.isStopping ? "the service is stopping" : undefined;
}
