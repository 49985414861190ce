import { type Insertable, type Selectable, sql } from "kysely";
import type { RunsTable, TurnsTable } from "../schema/schema.ts";
import type { RunRecord, StoredRun, Tally } from "../run_record.ts";
import type { StoredTurn, TurnText } from "../turn_record.ts";
import type { StatusChange } from "../store.ts";

/** The columns of a run without its request, which may have megabytes. */
export const RECORD_COLUMNS = [
  "id",
  "parent_id",
  "status",
  "detail",
  "test_name",
  "model_id",
  "endpoint",
  "attempts",
  "total_turns",
  "created_at",
  "finished_at",
  "tally",
  "dataset",
  "dataset_name",
  "gate",
  "group_id",
  "group_index",
  "group_name",
] as const satisfies (keyof RunsTable)[];

/** The longest name in a list of runs, in characters. */
const LISTED_NAME = 1_000;

/** The same for a list, with the test name cut: callers may send megabytes. */
export const LIST_COLUMNS = [
  ...RECORD_COLUMNS.filter((column) => column !== "test_name"),
  sql<string>`case when length(test_name) <= ${sql.lit(LISTED_NAME)} then test_name
    else substr(test_name, 1, ${sql.lit(LISTED_NAME)}) || '…' end`.as("test_name"),
] as const;

export const TURN_COLUMNS = [
  "scenario",
  "attempt",
  "turn",
  "took_ms",
  "result",
] as const satisfies (keyof TurnsTable)[];

export const ALL_TURN_COLUMNS = [
  "run_id",
  "scenario",
  "attempt",
  "turn",
  "seq",
  "failed",
  "missing",
  "overall",
  "took_ms",
  "result",
  "facets",
] as const satisfies (keyof TurnsTable)[];

/** PostgreSQL's drivers return `bigint` as text, so times are converted to numbers. */
export function toRecord(
  row: Pick<Selectable<RunsTable>, (typeof RECORD_COLUMNS)[number]>,
): RunRecord {
  return {
    id: row.id,
    parentId: row.parent_id,
    status: row.status,
    detail: row.detail,
    testName: row.test_name,
    modelId: row.model_id,
    endpoint: row.endpoint,
    attempts: row.attempts,
    totalTurns: row.total_turns,
    createdAt: Number(row.created_at),
    finishedAt: row.finished_at === null ? null : Number(row.finished_at),
    tally: row.tally === null ? null : JSON.parse(row.tally),
    batchDigest: row.dataset,
    datasetName: row.dataset_name,
    gate: row.gate,
    group: row.group_id === null
      ? null
      : { id: row.group_id, index: row.group_index!, name: row.group_name! },
  };
}

export function toRunRow(run: StoredRun): Insertable<RunsTable> {
  return {
    id: run.id,
    parent_id: run.parentId,
    status: run.status,
    detail: run.detail,
    test_name: run.testName,
    model_id: run.modelId,
    endpoint: run.endpoint,
    attempts: run.attempts,
    total_turns: run.totalTurns,
    created_at: run.createdAt,
    finished_at: run.finishedAt,
    tally: run.tally && JSON.stringify(run.tally),
    request: JSON.stringify(run.request),
    dataset: run.batchDigest,
    dataset_name: run.datasetName,
    gate: run.gate,
    group_id: run.group?.id ?? null,
    group_index: run.group?.index ?? null,
    group_name: run.group?.name ?? null,
  };
}

export type SelectedTurn = Pick<Selectable<TurnsTable>, (typeof TURN_COLUMNS)[number]>;

export function toTurnText(
  { scenario, attempt, turn, took_ms: tookMs, result: resultJson }: SelectedTurn,
): TurnText {
  return { scenario, attempt, turn, tookMs, resultJson };
}

export function toTurn(row: SelectedTurn): StoredTurn {
  return parseTurn(toTurnText(row));
}

export function parseTurn({ resultJson, ...turn }: TurnText): StoredTurn {
  return { ...turn, result: JSON.parse(resultJson) };
}

/** The columns of a run that a new status sets. */
export function toStatusColumns(
  { status, detail, tally }: Omit<StatusChange, "tally"> & { tally?: Tally | undefined },
  moment: number,
) {
  const isOver = status !== "running" && status !== "interrupted";
  return {
    status,
    detail: detail ?? null,
    tally: tally ? JSON.stringify(tally) : null,
    finished_at: isOver ? notBeforeCreation(moment) : null,
    overall: null, // what was computed before, if anything, is out of date
    headline: null,
    summary: null,
  };
}

/** The clock may have been set back since, or be that of another process. */
function notBeforeCreation(moment: number) {
  return sql<number>`case when created_at > ${moment} then created_at else ${moment} end`;
}
