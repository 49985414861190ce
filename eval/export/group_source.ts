import type { GroupReport } from "../groups/group_report.ts";
import type { RunReader } from "../store/store.ts";
import type { ExportSource } from "./format.ts";
import { exportSource } from "./source.ts";

/**
 * The runs of a group, ready to be written down; `threshold` is their own if unset. Throws 409 if
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

/** The same pieces; the turns of all runs can be read until the last one. */
export async function* whileAllKept(
  reader: Pick<RunReader, "keep">,
  { report: { models }, pieces }: {
    report: Pick<GroupReport, "models">;
    pieces: AsyncIterable<string>;
  },
): AsyncGenerator<string> {
  using kept = new DisposableStack();
  for (const { run_id } of models) kept.use(reader.keep(run_id));
  yield* pieces;
}
