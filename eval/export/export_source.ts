import { conflict } from "../../shared/errors.ts";
import { createGradedReader } from "../grades/graded_reader.ts";
import type { StoredRun } from "../store/runs/run_record.ts";
import type { RunReader } from "../store/store.ts";
import { createWholeReader } from "../store/turns/whole_reader.ts";
import type { ExportSource } from "./format.ts";
import { thresholdOf } from "../results/passing.ts";
import type { GroupReport } from "../groups/group_report.ts";

/**
 * A stored run, ready to be exported, with the grades that people gave. Throws 409 while the run is
 * running: formats that state their counts first read it twice, and must find the same
 * both times.
 */
export function exportSource(
  reader: RunReader,
  { run, threshold = thresholdOf(run.request) }: {
    run: StoredRun;
    threshold?: number | undefined;
  },
): ExportSource {
  if (run.status === "running") {
    throw conflict(
      `cannot export run ${run.id}: it is not finished; wait for its end, or cancel it`,
    );
  }
  return { run, reader: createGradedReader(createWholeReader(reader, run), reader), threshold };
}

/**
 * The runs of a group, ready to be exported; `threshold` is their own if unset. Throws 409 if
 * one is running.
 */
export async function groupSources(
  reader: RunReader,
  { models, threshold }: Pick<GroupReport, "models"> & { threshold?: number | undefined },
): Promise<ExportSource[]> {
  const sources: ExportSource[] = [];
  for (const { run_id } of models) {
    sources.push(exportSource(reader, { run: (await reader.getRun(run_id))!, threshold }));
  }
  return sources;
}
