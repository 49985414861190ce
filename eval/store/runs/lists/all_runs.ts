import type { RunRecord } from "../run_record.ts";
import type { RunFilter, RunReader } from "../../store.ts";

/** Runs read at once. */
const PAGE = 200;

/** All runs that a filter names, newest first unless it sorts otherwise. */
export async function* allRuns(
  reader: Pick<RunReader, "listRuns">,
  filter: Omit<RunFilter, "cursor" | "limit">,
): AsyncGenerator<RunRecord> {
  let cursor;
  do {
    const page = await reader.listRuns({ ...filter, limit: PAGE, ...(cursor && { cursor }) });
    yield* page.runs;
    cursor = page.next;
  } while (cursor);
}
