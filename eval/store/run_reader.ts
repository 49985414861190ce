import { type Kysely, sql } from "kysely";
import { readAhead } from "./read_ahead.ts";
import {
  LIST_COLUMNS,
  parseTurn,
  RECORD_COLUMNS,
  toRecord,
  toTurnText,
  TURN_COLUMNS,
} from "./run_rows.ts";
import type { Tables } from "./schema.ts";
import type { RunReader, Tally, TurnText } from "./store.ts";

/** Turns read at once: a few hundred kilobytes as a rule, so that nobody waits for the page. */
const PAGE = 200;

/** Reads runs out of any database that has the tables. */
export function createRunReader(db: Kysely<Tables>): RunReader {
  const turnPages = (runId: string) => readAhead(fetchPages(runId));

  async function* fetchPages(runId: string): AsyncGenerator<TurnText[]> {
    const first = db.selectFrom("turns").select(TURN_COLUMNS)
      .where("run_id", "=", runId)
      .orderBy("scenario").orderBy("attempt").orderBy("turn")
      .limit(PAGE);
    let query = first;
    while (true) {
      const page = (await query.execute()).map(toTurnText);
      const last = page.at(-1);
      if (!last) return;
      yield page;
      if (page.length < PAGE) return;
      const { scenario, attempt, turn } = last;
      query = first.where(
        sql<boolean>`(scenario, attempt, turn) > (${scenario}, ${attempt}, ${turn})`,
      );
    }
  }

  return {
    async getRun(id) {
      const row = await db.selectFrom("runs").selectAll().where("id", "=", id).executeTakeFirst();
      return row && { ...toRecord(row), request: JSON.parse(row.request) };
    },

    async getRecord(id) {
      const row = await db.selectFrom("runs").select(RECORD_COLUMNS).where("id", "=", id)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async listRuns({ testName, modelId, status, cursor, limit }) {
      let query = db.selectFrom("runs").select(LIST_COLUMNS).orderBy("id", "desc");
      if (testName !== undefined) query = query.where("test_name", "=", testName);
      if (modelId !== undefined) query = query.where("model_id", "=", modelId);
      if (status !== undefined) query = query.where("status", "=", status);
      if (cursor !== undefined) query = query.where("id", "<", cursor);
      const rows = await query.limit(limit + 1).execute();
      const runs = rows.slice(0, limit).map(toRecord);
      return { runs, nextCursor: rows.length > limit ? runs.at(-1)!.id : null };
    },

    async *turns(runId) {
      for await (const page of turnPages(runId)) yield* page.map(parseTurn);
    },

    turnPages,

    async turnsAfter(runId, { seq, limit }) {
      const rows = await db.selectFrom("turns")
        .select(["seq", "scenario", "attempt", "turn", "result"])
        .where("run_id", "=", runId)
        .where("seq", ">", seq)
        .orderBy("seq")
        .limit(limit)
        .execute();
      return rows.map(({ result, ...position }) => ({ ...position, resultJson: result }));
    },

    async tally(runId): Promise<Tally> {
      const row = await db.selectFrom("turns")
        .select(({ fn }) => [
          fn.countAll().as("done"),
          fn.sum("failed").as("failed"),
          fn.sum("missing").as("missing"),
          fn.count("overall").as("scored"),
          fn.avg("overall").as("mean"),
          fn.max("seq").as("last_seq"),
        ])
        .where("run_id", "=", runId)
        .executeTakeFirstOrThrow();
      return {
        done: Number(row.done),
        failed: Number(row.failed ?? 0),
        missing: Number(row.missing ?? 0),
        scored: Number(row.scored),
        mean: row.mean === null ? null : Number(row.mean),
        lastSeq: Number(row.last_seq ?? 0),
      };
    },

    close: () => db.destroy(),
  };
}
