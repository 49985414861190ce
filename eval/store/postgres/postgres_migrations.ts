import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What only PostgreSQL needs, where several processes work on the same runs. */
export const postgresMigrations: Record<string, Migration> = {
  "0011_shared_runs": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("runs")
        .addColumn("last_seq", "integer", (column) => column.notNull().defaultTo(0))
        .addColumn("queue", "text")
        .addColumn("reserved_until", "timestamptz")
        .execute();
      await db.schema.createTable("endpoint_paces")
        .addColumn("origin", "text", (column) => column.primaryKey())
        .addColumn("concurrency", "double precision", (column) => column.notNull())
        .addColumn("changed_by", "text", (column) => column.notNull())
        .addColumn("changed_at", "timestamptz", (column) => column.notNull())
        .execute();
    },
  },
  "0020_portions": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("runs")
        .addColumn("places", "integer")
        .addColumn("listed", "integer")
        .execute();
    },
  },
};
