import { sql } from "kysely";
import type { Tally } from "./run_record.ts";
import type { StatusChange } from "../store.ts";

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
