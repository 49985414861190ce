import { readNumbers, type RunNumbers } from "../../export/text/run_numbers.ts";
import type { ActiveRun } from "../../run/manager/active_run.ts";
import { createFollowingReader } from "../../run/events/following_reader.ts";
import type { RunStore } from "../../store/store.ts";
import { type PassCriteria, thresholdFor } from "../pass_criteria.ts";

/**
 * The digest of a run, computed while the run waits for replies. Throws `IncompleteRead` if not all
 * of its turns are stored by this process.
 */
export async function readNumbersning(
  active: ActiveRun,
  { criteria, store }: { criteria: PassCriteria; store: RunStore },
): Promise<RunNumbers> {
  const { run } = active;
  const reader = createFollowingReader(store, active);
  return await readNumbers({ run, reader, threshold: thresholdFor(criteria, run) });
}
