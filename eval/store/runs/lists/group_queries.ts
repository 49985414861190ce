import type { Kysely } from "kysely";
import { LIST_COLUMNS, toRecord } from "../run_rows.ts";
import type { Tables } from "../../schema/schema.ts";
import type { RunRecord } from "../run_record.ts";

/** The runs of a group in the order of its models. A retry replaces the run that it retries. */
export async function groupRuns(db: Kysely<Tables>, groupId: string): Promise<RunRecord[]> {
  const rows = await db.selectFrom("runs").select(LIST_COLUMNS).where("group_id", "=", groupId)
    .orderBy("group_index").orderBy("id").execute();
  const retried = new Set(rows.map(({ parent_id }) => parent_id));
  const current = rows.filter(({ id }) => !retried.has(id));
  const latest = new Map(current.map((row) => [row.group_index, row])); // of several, the last
  return [...latest.values()].map(toRecord);
}

/** The ids of groups, newest first. They sort in the order of creation, as those of runs do. */
export async function listGroups(
  db: Kysely<Tables>,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<string[]> {
  const rows = await db.selectFrom("runs").select("group_id").distinct()
    .where("group_id", "is not", null)
    .$if(before !== undefined, (query) => query.where("group_id", "<", before!))
    .orderBy("group_id", "desc").limit(limit).execute();
  return rows.map(({ group_id }) => group_id!);
}
