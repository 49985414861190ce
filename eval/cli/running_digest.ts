import { digestRun, type RunDigest } from "../export/digest.ts";
import type { ActiveRun } from "../run/active_run.ts";
import { createFollowingReader } from "../run/following_reader.ts";
import type { RunStore } from "../store/store.ts";
import { type PassCriteria, thresholdFor } from "./pass_criteria.ts";

/**
 * The digest of a run, computed while the run waits for replies. `undefined` if it cannot be: then
 * the run was not stored as a whole by this process, or reading failed.
 */
export async function digestRunning(
  active: ActiveRun,
  { criteria, store }: { criteria: PassCriteria; store: RunStore },
): Promise<RunDigest | undefined> {
  const { run } = active;
  const reader = createFollowingReader(store, active);
  try {
    return await digestRun({ run, reader, threshold: thresholdFor(criteria, run) });
  } catch {
    return undefined; // whoever reads the run after its end reports what is wrong
  }
}
