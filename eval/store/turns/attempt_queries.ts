import type { Kysely } from "kysely";
import { toTurn, TURN_COLUMNS } from "../runs/run_rows.ts";
import type { Tables } from "../schema/schema.ts";
import type { RunStore } from "../store.ts";

/** Reads the stored turns attempt by attempt, for a run that is resumed. */
export function createAttemptQueries(
  db: Kysely<Tables>,
): Pick<RunStore, "attemptCounts" | "attemptTurns"> {
  return {
    async attemptCounts(runId) {
      const rows = await db.selectFrom("turns")
        .select(({ fn }) => ["scenario", "attempt", fn.countAll().as("turns")])
        .where("run_id", "=", runId)
        .groupBy(["scenario", "attempt"])
        .orderBy("scenario").orderBy("attempt")
        .execute();
      return rows.map((row) => ({ ...row, turns: Number(row.turns) }));
    },

    async attemptTurns(runId, { scenario, attempt }) {
      const rows = await db.selectFrom("turns").select(TURN_COLUMNS)
        .where("run_id", "=", runId)
        .where("scenario", "=", scenario)
        .where("attempt", "=", attempt)
        .orderBy("turn")
        .execute();
      return rows.map(toTurn);
    },
  };
}
