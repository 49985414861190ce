import type { Check } from "../shared/ops/operations.ts";
import type { RunManager } from "./runs/run_manager.ts";
import type { RunStore } from "./store/store.ts";

/**
 * Whether the database takes writes. Deletes a run that cannot be there: that changes nothing, and
 * needs the same right to write as any change.
 */
export function checkStore(store: RunStore): Check {
  return async () => {
    try {
      await store.deleteRun("");
      return undefined;
    } catch {
      return "the database cannot be written";
    }
  };
}

/** A service that stops begins no further run. */
export function checkRuns(runs: RunManager): Check {
  return () => runs.isStopping ? "the service is stopping" : undefined;
}
