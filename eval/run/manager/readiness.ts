import type { ReadinessCheck } from "../../../shared/ops/operations.ts";
import type { RunManager } from "./manager.ts";
import type { RunStore } from "../../store/store.ts";
import { isStorageFault, StoreFault } from "../../store/store_fault.ts";

/** Checks within this time share one write. */
const SHARED_MS = 2000;

/**
 * Checks that the database can be written, and that its path still names the open file. It really
 * writes, at most once per two seconds: many concurrent probes cost as much as one.
 */
export function checkStore(
  store: Pick<RunStore, "checkWrite">,
  { sharedMs = SHARED_MS } = {},
): ReadinessCheck {
  let checked: { at: number; finding: Promise<string | undefined> } | undefined;

  async function check(): Promise<string | undefined> {
    try {
      await store.checkWrite();
      return undefined;
    } catch (error) {
      if (isStorageFault(error)) return error.message.replace(/; retry in .*/, ""); // a probe does
      const isGone = error instanceof StoreFault && error.isMissing;
      return isGone
        ? "the database file was deleted or replaced"
        : "the database cannot be written";
    }
  }

  return () => {
    const now = performance.now();
    if (!checked || now - checked.at >= sharedMs) checked = { at: now, finding: check() };
    return checked.finding;
  };
}

/** A stopping service starts no further run. */
export function checkRuns(runs: RunManager): ReadinessCheck {
  return () => runs.isStopping ? "the service is stopping" : undefined;
}
