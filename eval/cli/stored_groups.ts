import { createGroups, type Groups } from "../groups/groups.ts";
import { summariseTurns } from "../results/run_summary.ts";
import { restingProgress, viewRun } from "../run/events/view.ts";
import type { RunReader } from "../store/store.ts";
import { createWholeReader } from "../store/turns/whole_reader.ts";

/** The groups of a store in which no run of this process is running. */
export function storedGroups(reader: RunReader): Groups {
  return createGroups({
    store: reader,
    view: async (run) =>
      viewRun(run, restingProgress(run, run.tally ?? await reader.tally(run.id))),
    async summarise(run) {
      const whole = (await reader.getRun(run.id))!;
      return await summariseTurns(createWholeReader(reader, whole), whole);
    },
  });
}

/** Whether a name on the command line is the id of a group. */
export async function isGroup(reader: RunReader, name: string): Promise<boolean> {
  return (await reader.groupRuns(name)).length > 0;
}
