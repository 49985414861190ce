import { type AppError, conflict, notFound } from "../../shared/service/errors.ts";
import type { RunRecord, StoredRun } from "./run_record.ts";
import type { RunFilter, RunReader } from "./store.ts";
import type { TurnPosition } from "./turn_record.ts";

const TAG_PREFIX = "tag:";

/** A stored run by its id, `tag:NAME`, or `latest`, the newest. Throws 404 `not_found`. */
export async function requireRun(reader: RunReader, name: string): Promise<StoredRun> {
  const run = await reader.getRun(await idOf(reader, name));
  if (run) return run;
  throw runNotFound(name);
}

/** The same without the request, which may have megabytes. */
export async function requireRecord(reader: RunReader, name: string): Promise<RunRecord> {
  const run = await reader.getRecord(await idOf(reader, name));
  if (run) return run;
  throw runNotFound(name);
}

async function idOf(reader: RunReader, name: string): Promise<string> {
  if (name === "latest") return (await reader.listRuns({ limit: 1 })).runs[0]?.id ?? name;
  const text = name.replace(/%3A/gi, ":").replaceAll(/%2F/gi, "/"); // it may be a part of a path
  if (!text.startsWith(TAG_PREFIX)) return name;
  const tag = text.slice(TAG_PREFIX.length);
  const id = await reader.findTag(tag);
  if (id !== undefined) return id;
  throw notFound(`no run has the tag "${tag}"; "assay-eval tag RUN ${tag}" sets it`);
}

/** Those who read the same run at once share its request, which may have megabytes. */
export function createSharedReading(read: (id: string) => Promise<StoredRun>) {
  const reading = new Map<string, Promise<StoredRun>>();
  return (id: string): Promise<StoredRun> => {
    const known = reading.get(id) ?? read(id).finally(() => reading.delete(id));
    reading.set(id, known);
    return known;
  };
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
