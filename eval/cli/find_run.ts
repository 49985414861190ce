import type { StoredRun } from "../store/runs/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { UsageError } from "./command.ts";
import { createGroups, type Groups } from "../groups/groups.ts";
import { summariseTurns } from "../results/run_summary.ts";
import { restingProgress, viewRun } from "../run/events/view.ts";
import { createWholeReader } from "../store/turns/whole_reader.ts";

const TAG = "tag:";

/**
 * A run by its id, by `tag:NAME`, or the newest by `latest`. Throws `UsageError` if there is none.
 */
export async function findRun(reader: RunReader, name: string): Promise<StoredRun> {
  const id = await findId(reader, name);
  const run = id === undefined ? undefined : await reader.getRun(id);
  if (run) return run;
  if (name.startsWith(TAG)) {
    const tag = name.slice(TAG.length);
    throw new UsageError(`no run has the tag "${tag}"; "assay-eval tag RUN ${tag}" sets it`);
  }
  throw new UsageError(`no run "${name}"; "assay-eval runs" lists the stored runs`);
}

async function findId(reader: RunReader, name: string): Promise<string | undefined> {
  if (name === "latest") return (await reader.listRuns({ limit: 1 })).runs[0]?.id;
  return name.startsWith(TAG) ? await reader.findTag(name.slice(TAG.length)) : name;
}

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
    headlines: () => Promise.resolve(new Map()), // its list shows no scores
  });
}

/** Whether a name on the command line is the id of a group. */
export async function isGroup(reader: RunReader, name: string): Promise<boolean> {
  return (await reader.groupRuns(name)).length > 0;
}
