import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import type { RunCursor, RunSort, RunSortKey } from "../list_query.ts";
import { LIST_COLUMNS, toRecord } from "./run_rows.ts";
import type { Tables } from "../schema/schema.ts";
import type { RunFilter, RunPage } from "../store.ts";
import { likePatterns } from "../turns/turn_conditions.ts";
import type { RunRecord } from "../run_record.ts";

const NEWEST_FIRST: RunSort = { by: "created_at", isDescending: true };

/** The id of the newest run, after which ids of this process have to sort. */
export async function newestRunId(db: Kysely<Tables>): Promise<string | undefined> {
  return (await db.selectFrom("runs").select("id").orderBy("id", "desc").limit(1)
    .executeTakeFirst())?.id;
}

export async function listRuns(db: Kysely<Tables>, filter: RunFilter): Promise<RunPage> {
  const { testName, modelId, status, groupId, text, sort = NEWEST_FIRST, cursor, limit } = filter;
  const direction = sort.isDescending ? "desc" : "asc";
  let query = db.selectFrom("runs").select(LIST_COLUMNS).select(valueOf(sort.by).as("value"));
  if (testName !== undefined) query = query.where("test_name", "=", testName);
  if (modelId !== undefined) query = query.where("model_id", "=", modelId);
  if (status !== undefined) query = query.where("status", "=", status);
  if (groupId !== undefined) query = query.where("group_id", "=", groupId);
  if (text) query = query.where(namesText(text));
  if (cursor !== undefined) query = query.where(isAfter(cursor, sort));
  if (sort.by !== "created_at") {
    query = query.orderBy(sql`${valueOf(sort.by)} is null`).orderBy(valueOf(sort.by), direction);
  }
  const rows = await query.orderBy("id", sort.by === "created_at" ? direction : "desc")
    .limit(limit + 1).execute();
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    runs: rows.slice(0, limit).map(toRecord),
    next: last ? { id: last.id, value: readValue(sort, last.value) } : null,
  };
}

type SortValue = string | number | null;

/** Drivers of PostgreSQL return numbers of some types as text. */
function readValue({ by }: RunSort, value: SortValue): SortValue {
  if (value === null || by === "created_at") return null;
  return by === "overall" || by === "duration" ? Number(value) : value;
}

function valueOf(by: RunSortKey): RawBuilder<SortValue> {
  switch (by) {
    case "created_at":
      return sql`cast(null as text)`;
    case "duration":
      return sql`(finished_at - created_at)`;
    case "test_name": // callers may send megabytes, which would be in the cursor
      return sql`substr(test_name, 1, 200)`;
    case "overall": // an unfinished run has the mean of another batch
      return sql`case when status = 'completed' then runs.overall end`;
    case "model_id":
      return sql`coalesce(group_name, model_id)`;
    default:
      return sql.ref(`runs.${by}`) as RawBuilder<SortValue>;
  }
}

function isAfter({ id, value }: RunCursor, { by, isDescending }: RunSort): RawBuilder<SqlBool> {
  if (by === "created_at") return isDescending ? sql`id < ${id}` : sql`id > ${id}`;
  const own = valueOf(by);
  if (value === null) return sql`(${own} is null and id < ${id})`;
  const beyond = isDescending ? sql`${own} < ${value}` : sql`${own} > ${value}`;
  return sql`(${beyond} or (${own} = ${value} and id < ${id}) or ${own} is null)`;
}

/** The text is in the name of the test, of the model (or what its group calls it), a tag or the id. */
function namesText(text: string): RawBuilder<SqlBool> {
  const conditions = likePatterns(text).flatMap((like) => [
    ...["test_name", "model_id", "group_name", "id"].map((column) =>
      sql`lower(${sql.ref(column)}) like ${like} escape '!'`
    ),
    sql`exists (select 1 from run_tags where run_tags.run_id = runs.id
      and lower(run_tags.name) like ${like} escape '!')`,
  ]);
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/** The runs of a group in the order of its models. A retry replaces the run that it retries. */
export async function groupRuns(db: Kysely<Tables>, groupId: string): Promise<RunRecord[]> {
  const rows = await db.selectFrom("runs").select(LIST_COLUMNS).where("group_id", "=", groupId)
    .orderBy("group_index").orderBy("id").execute();
  const retried = new Set(rows.map(({ parent_id }) => parent_id));
  const current = rows.filter(({ id }) => !retried.has(id));
  const latest = new Map(current.map((row) => [row.group_index, row])); // of several, the last
  return [...latest.values()].map(toRecord);
}
