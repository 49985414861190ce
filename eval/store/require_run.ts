import { type AppError, conflict, notFound } from "../../shared/service/errors.ts";
import type { RunRecord, StoredRun } from "./run_record.ts";
import type { RunFilter, RunReader } from "./store.ts";
import type { TurnPosition } from "./turn_record.ts";

/** A stored run. Throws 404 `not_found` if no run has the id. */
export async function requireRun(reader: RunReader, id: string): Promise<StoredRun> {
  const run = await reader.getRun(id);
  if (run) return run;
  throw runNotFound(id);
}

/** The same without the request, which may have megabytes. */
export async function requireRecord(reader: RunReader, id: string): Promise<RunRecord> {
  const run = await reader.getRecord(id);
  if (run) return run;
  throw runNotFound(id);
}

/** 404 for a run that is not stored. */
export function runNotFound(id: string): AppError {
  return notFound(`cannot find run ${id}: no run has this id`);
}

/** 404 for a turn that is not stored. Callers count attempts from 1. */
export function turnNotFound(id: string, { scenario, attempt, turn }: TurnPosition): AppError {
  const place = `${scenario}/${attempt + 1}/${turn}`;
  return notFound(`cannot find turn ${place} of run ${id}: it is not stored`);
}

/** 409 for a run that was to be resumed, but has ended or was deleted meanwhile. */
export function endedMeanwhile(id: string): AppError {
  return conflict(`cannot resume run ${id}: it was ended or deleted meanwhile`);
}

/** 404 for a run that was deleted before all of it was read. */
export function runDeleted(id: string): AppError {
  return notFound(`run ${id} was deleted while it was read`);
}

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
