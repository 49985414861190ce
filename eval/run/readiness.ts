import type { ReadinessCheck } from "../../shared/service/ops/operations_routes.ts";
import type { RunManager } from "./manager.ts";
import type { RunStore } from "../store/store.ts";
import { isStorageFault, StoreFault } from "../store/store_fault.ts";

/** Checks within this time share one answer. */
const SHARED_MS = 2000;

/**
 * Checks that the database can be written, that stored runs can be read, and that its path still
 * names the open file. It really writes, at most once per two seconds: many concurrent probes cost as
 * much as one.
 */
export function checkStore(
  store: Pick<RunStore, "checkWrite" | "checkRead">,
  { sharedMs = SHARED_MS } = {},
): ReadinessCheck {
  let current: Promise<string | undefined> | undefined;
  let checkedAt = -Infinity;

  async function check(): Promise<string | undefined> {
    try {
      const reading = store.checkRead().catch((error) => {
        if (isStorageFault(error)) throw error;
        throw new Error("stored runs cannot be read", { cause: error });
      });
      const writing = store.checkWrite().catch((error) => {
        if (isStorageFault(error)) throw error;
        const isGone = error instanceof StoreFault && error.isMissing;
        throw new Error(
          isGone ? "the database file was deleted or replaced" : "the database cannot be written",
        );
      });
      writing.catch(() => {}); // an error of reading is reported first
      await reading;
      await writing;
      return undefined;
    } catch (error) {
      return (error as Error).message.replace(/; retry in .*/, ""); // probes come again anyway
    } finally {
      checkedAt = performance.now();
    }
  }

  let isChecking = false;
  return () => {
    if (!isChecking && performance.now() - checkedAt >= sharedMs) {
      isChecking = true;
      current = check().finally(() => isChecking = false);
    }
    return current;
  };
}

/** A stopping service starts no further run. */
export function checkRuns(runs: RunManager): ReadinessCheck {
  return () => runs.isStopping ? "the service is stopping" : undefined;
}
