import type { RunReader } from "../../store/store.ts";
import { requireWhole, type TurnReader } from "../../store/turns/whole_reader.ts";
import type { ActiveRun } from "../manager/active_run.ts";

/** Each read of the database takes a millisecond, however few turns it finds. */
const SCENARIOS_AT_ONCE = 20;

/**
 * Reads a run that is running here, in the order of the batch: scenarios as soon as all of their
 * turns are stored. Throws `IncompleteRead` if the run ends and this process has not stored all.
 */
export function createFollowingReader(
  reader: Pick<RunReader, "turnPages">,
  { run, whole }: Pick<ActiveRun, "run" | "whole">,
): Pick<TurnReader, "turnPages"> {
  const { length } = run.request.test_batch;
  return {
    async *turnPages() {
      let read = 0;
      for (let from = 0; from < length;) {
        await whole.reach(from + SCENARIOS_AT_ONCE);
        const until = whole.count;
        if (until === from) break; // the run is over
        for await (const page of reader.turnPages(run.id, { from, until })) {
          read += page.length;
          yield page;
        }
        from = until;
      }
      requireWhole(run.id, { read, expected: run.totalTurns });
    },
  };
}
