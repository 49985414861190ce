import type { Kysely } from "kysely";
import type { SummaryQueries } from "./list_query.ts";
import type { Tables } from "../../schema/schema.ts";

export function createSummaryQueries(
  db: Kysely<Tables>,
  { reads }: { reads: Kysely<Tables> },
): SummaryQueries {
  return {
    async headlines(runIds) {
      if (runIds.length === 0) return new Map();
      const rows = await reads.selectFrom("runs").select(["id", "headline"])
        .where("id", "in", runIds)
        .where("headline", "is not", null)
        .execute();
      return new Map(rows.map(({ id, headline }) => [id, headline!]));
    },

    async summary(runId) {
      const row = await reads.selectFrom("runs").select("summary").where("id", "=", runId)
        .executeTakeFirst();
      return row?.summary ?? undefined;
    },

    async saveSummary({ id, finishedAt }, { overall, headline, summary }) {
      await db.updateTable("runs").set({ overall, headline, summary })
        .where("id", "=", id)
        .where("finished_at", "=", finishedAt)
        .execute();
    },
  };
}
