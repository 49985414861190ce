import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { removeQuery } from "../runs/run_record.ts";
import { readFacets } from "../turns/turn_record.ts";

/** Turns of an earlier version that are read at once. */
const FILLED_AT_ONCE = 200;

/** Writes the facets of turns that earlier versions stored. */
async function fillFacets(db: Kysely<unknown>): Promise<void> {
  const { rows: runs } = await sql<{ id: string }>`select id from runs`.execute(db);
  for (const { id } of runs) {
    let last: number | undefined = 0;
    while (last !== undefined) last = await fillPage(db, { id, after: last });
  }
}

/** Fills the turns after a `seq`, and returns that of the last one; `undefined` if there was none. */
async function fillPage(
  db: Kysely<unknown>,
  { id, after }: { id: string; after: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number; result: string }>`
    select seq, result from turns where run_id = ${id} and seq > ${after}
    order by seq limit ${sql.lit(FILLED_AT_ONCE)}`.execute(db);
  for (const { seq, result } of rows) {
    const facets = JSON.stringify(readFacets(JSON.parse(result)));
    await sql`update turns set facets = ${facets} where run_id = ${id} and seq = ${seq}`
      .execute(db);
  }
  return rows.at(-1)?.seq;
}

/** Removes the queries of endpoints, which earlier versions stored. */
async function removeStoredQueries(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ id: string; endpoint: string }>`
    select id, endpoint from runs where endpoint like '%?%' or endpoint like '%#%'`.execute(db);
  for (const { id, endpoint } of rows) {
    const { rows: [row] } = await sql<{ request: string }>`
      select request from runs where id = ${id}`.execute(db);
    const bare = removeQuery(endpoint);
    const request = JSON.stringify({ ...JSON.parse(row!.request), endpoint: bare });
    await sql`update runs set endpoint = ${bare}, request = ${request}, query_removed = 1
      where id = ${id}`.execute(db);
  }
}

/**
 * The schema's migrations in order. Never change a released one: add the next. Use only what SQLite
 * and PostgreSQL both support: text, integer, bigint, double precision, composite keys.
 */
export const migrations: Record<string, Migration> = {
  "0001_runs": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("runs")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("parent_id", "text")
        .addColumn("status", "text", (column) => column.notNull())
        .addColumn("detail", "text")
        .addColumn("test_name", "text", (column) => column.notNull())
        .addColumn("model_id", "text", (column) => column.notNull())
        .addColumn("endpoint", "text", (column) => column.notNull())
        .addColumn("attempts", "integer", (column) => column.notNull())
        .addColumn("total_turns", "integer", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("finished_at", "bigint")
        .addColumn("tally", "text")
        .addColumn("request", "text", (column) => column.notNull())
        .execute();
      await db.schema.createIndex("runs_by_status").on("runs").columns(["status", "id"]).execute();
      await db.schema.createIndex("runs_by_test").on("runs").columns(["test_name", "id"]).execute();
      await db.schema.createIndex("runs_by_model").on("runs").columns(["model_id", "id"]).execute();
    },
  },
  "0002_turns": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("turns")
        .addColumn("run_id", "text", (column) => column.notNull())
        .addColumn("scenario", "integer", (column) => column.notNull())
        .addColumn("attempt", "integer", (column) => column.notNull())
        .addColumn("turn", "integer", (column) => column.notNull())
        .addColumn("seq", "integer", (column) => column.notNull())
        .addColumn("failed", "integer", (column) => column.notNull())
        .addColumn("overall", "double precision")
        .addColumn("took_ms", "integer", (column) => column.notNull())
        .addColumn("result", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("turns_key", ["run_id", "scenario", "attempt", "turn"])
        .execute();
      await db.schema.createIndex("turns_by_seq").on("turns").columns(["run_id", "seq"]).unique()
        .execute();
    },
  },
  "0003_idempotency_keys": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("idempotency_keys")
        .addColumn("idempotency_key", "text", (column) => column.primaryKey())
        .addColumn("body_hash", "text", (column) => column.notNull())
        .addColumn("run_id", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .execute();
    },
  },
  "0004_missing_scores": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("turns")
        .addColumn("missing", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  "0005_pending_replies": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("pending_replies")
        .addColumn("run_id", "text", (column) => column.notNull())
        .addColumn("scenario", "integer", (column) => column.notNull())
        .addColumn("attempt", "integer", (column) => column.notNull())
        .addColumn("turn", "integer", (column) => column.notNull())
        .addColumn("tries", "integer", (column) => column.notNull())
        .addColumn("reply", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("pending_replies_key", ["run_id", "scenario", "attempt", "turn"])
        .execute();
    },
  },
  "0006_keys_by_caller": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("caller_keys")
        .addColumn("caller", "text", (column) => column.notNull())
        .addColumn("idempotency_key", "text", (column) => column.notNull())
        .addColumn("body_hash", "text", (column) => column.notNull())
        .addColumn("run_id", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("caller_keys_key", ["caller", "idempotency_key"])
        .execute();
      await sql`insert into caller_keys (caller, idempotency_key, body_hash, run_id, created_at)
        select '', idempotency_key, body_hash, run_id, created_at from idempotency_keys`
        .execute(db);
      await db.schema.dropTable("idempotency_keys").execute();
    },
  },
  "0007_endpoint_queries": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("runs")
        .addColumn("query_removed", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
      await removeStoredQueries(db);
    },
  },
  "0008_service_state": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("service_state")
        .addColumn("name", "text", (column) => column.primaryKey())
        .addColumn("value", "text", (column) => column.notNull())
        .execute();
    },
  },
  "0009_baselines": {
    async up(db: Kysely<unknown>) {
      for (const name of ["dataset", "gate"]) {
        await db.schema.alterTable("runs").addColumn(name, "text").execute();
      }
      await db.schema.createTable("run_tags")
        .addColumn("name", "text", (column) => column.primaryKey())
        .addColumn("run_id", "text", (column) => column.notNull())
        .execute();
    },
  },
  "0010_lists": {
    async up(db: Kysely<unknown>) {
      for (const name of ["headline", "summary"]) {
        await db.schema.alterTable("runs").addColumn(name, "text").execute();
      }
      await db.schema.alterTable("runs").addColumn("overall", "double precision").execute();
      await db.schema.alterTable("turns").addColumn("facets", "json").execute();
      await fillFacets(db);
    },
  },
  "0015_grades": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("grades")
        .addColumn("run_id", "text", (column) => column.notNull())
        .addColumn("scenario", "integer", (column) => column.notNull())
        .addColumn("attempt", "integer", (column) => column.notNull())
        .addColumn("turn", "integer", (column) => column.notNull())
        .addColumn("author", "text", (column) => column.notNull())
        .addColumn("version", "integer", (column) => column.notNull())
        .addColumn("value", "double precision", (column) => column.notNull())
        .addColumn("label", "text")
        .addColumn("comment", "text")
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("grades_key", [
          "run_id",
          "scenario",
          "attempt",
          "turn",
          "author",
          "version",
        ])
        .execute();
    },
  },
  "0017_datasets": {
    async up(db: Kysely<unknown>) {
      await db.schema.createTable("datasets")
        .addColumn("name", "text", (column) => column.primaryKey())
        .addColumn("latest", "text", (column) => column.notNull())
        .addColumn("updated_at", "bigint", (column) => column.notNull())
        .execute();
      await db.schema.createTable("dataset_versions")
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("version", "text", (column) => column.notNull())
        .addColumn("content_id", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("scenarios", "integer", (column) => column.notNull())
        .addColumn("turns", "integer", (column) => column.notNull())
        .addColumn("bytes", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("dataset_versions_key", ["name", "version"])
        .execute();
      await db.schema.createTable("dataset_parts")
        .addColumn("content_id", "text", (column) => column.notNull())
        .addColumn("position", "integer", (column) => column.notNull())
        .addColumn("lines", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("dataset_parts_key", ["content_id", "position"])
        .execute();
    },
  },
  "0018_groups": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("runs").addColumn("group_id", "text").execute();
      await db.schema.alterTable("runs").addColumn("group_index", "integer").execute();
      await db.schema.alterTable("runs").addColumn("group_name", "text").execute();
      await db.schema.createIndex("runs_by_group").on("runs").columns(["group_id", "id"])
        .where(sql.ref("group_id"), "is not", null).execute();
    },
  },
  "0019_withdrawn_grades": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("grades")
        .addColumn("withdrawn", "integer", (column) => column.notNull().defaultTo(0)).execute();
      await db.schema.alterTable("runs").addColumn("dataset_name", "text").execute();
    },
  },
  "0020_means_with_bounds": {
    async up(db: Kysely<unknown>) {
      // Summaries have other fields; they are computed again when they are asked for.
      await sql`update runs set overall = null, headline = null, summary = null`.execute(db);
    },
  },
  "0021_no_pending_replies": {
    async up(db: Kysely<unknown>) {
      // The table itself stays: processes of the version before, which use it, may still run.
      await sql`delete from pending_replies`.execute(db);
    },
  },
};
