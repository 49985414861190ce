import type { RunReader, StoredRun } from "../store/store.ts";
import { UsageError } from "./command.ts";

/** A run by its id, or the newest by `latest`. Throws `UsageError` if there is none. */
export async function findRun(reader: RunReader, name: string): Promise<StoredRun> {
  const newest = name === "latest" ? (await reader.listRuns({ limit: 1 })).runs[0]?.id : name;
  const run = newest === undefined ? undefined : await reader.getRun(newest);
  if (run) return run;
  throw new UsageError(`no run "${name}"; "assay-eval runs" lists the stored runs`);
}
