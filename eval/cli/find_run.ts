import type { StoredRun } from "../store/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { UsageError } from "./command.ts";
import type { Selection } from "../figures/compare_stored.ts";

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

/** The runs of names, of which one may be the id of a group. */
export async function findRuns(reader: RunReader, names: string[]): Promise<Selection> {
  if (names.length === 1 && await isGroup(reader, names[0]!)) return { group: names[0]! };
  const runs: string[] = [];
  for (const name of names) runs.push((await findRun(reader, name)).id);
  return { runs };
}

/** Whether a name on the command line is the id of a group. */
export async function isGroup(reader: RunReader, name: string): Promise<boolean> {
  return (await reader.groupRuns(name)).length > 0;
}
