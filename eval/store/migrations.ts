import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import type { Tables } from "./schema.ts";

/**
 * The schema's history, by number. Never change one that was released: add the next. Only what
 * SQLite and PostgreSQL both understand: text, integer, bigint, double precision, composite keys.
 */
const migrations: Record<string, Migration> = {
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
};

/** Brings the tables up to date; does nothing where they are. Throws on those of a later version. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const provider = { getMigrations: () => Promise.resolve(migrations) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
}
