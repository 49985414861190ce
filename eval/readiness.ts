import type { Check } from "../shared/ops/operations.ts";
import type { RunManager } from "./runs/run_manager.ts";
import type { RunStore } from "./store/store.ts";

/** Writes nothing that was not there: a deletion that finds nothing takes the same locks. */
export function checkStore(store: RunStore): Check {
  return async () => {
    try {
      await store.deleteOlderThan(0);
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
