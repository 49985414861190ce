import type { Kysely } from "kysely";
import { createAttemptQueries } from "../turns/attempt_queries.ts";
import { createDatasetStore } from "../datasets/dataset_queries.ts";
import { createGradeWriter } from "../grades/grade_queries.ts";
import { findKey } from "./idempotency_keys.ts";
import { createNumberedInsert } from "../turns/numbered_insert.ts";
import { createPendingReplies, deleteReplies, insertReplies } from "../turns/pending_replies.ts";
import { createReplyWriter } from "../turns/reply_writer.ts";
import { createRunCreation, type RunCreationOptions } from "./run_creation.ts";
import { createRunDeletion } from "./run_deletion.ts";
import { createRunReader } from "./run_reader.ts";
import { toStatusColumns } from "./run_status.ts";
import { setTag } from "./run_tags.ts";
import type { PendingRepliesTable, Tables } from "../schema/schema.ts";
import { createServiceState } from "./service_state.ts";
import type { RunStore } from "../store.ts";
import { createSummaryQueries } from "./summary_queries.ts";
import { createTurnWriter, type InsertTurns } from "../turns/turn_writer.ts";

export interface RunStoreOptions extends RunCreationOptions {
  /** How turns and replies are stored if other processes store them too. */
  insertTurns?: InsertTurns;
  insertReplies?: (rows: PendingRepliesTable[]) => Promise<void>;
}

/** Stores runs in any database that has the tables. */
export function createRunStore(db: Kysely<Tables>, options: RunStoreOptions): RunStore {
  const { now } = options;
  const reader = createRunReader(db);
  const numbered = createNumberedInsert(db);
  const writer = createTurnWriter(options.insertTurns ?? numbered.insert);

  const replies = createReplyWriter(options.insertReplies ?? ((rows) => insertReplies(db, rows)));

  return {
    ...reader,
    ...createSummaryQueries(db),
    ...createGradeWriter(db, { now }),
    ...createDatasetStore(db, { now }),
    ...createRunCreation(db, options),
    ...createRunDeletion(db),
    ...createPendingReplies(db),
    ...createAttemptQueries(db),
    ...createServiceState(db, options),
    recordReply: replies.write,

    recordTurn(runId, turn) {
      replies.drop(runId, turn);
      return writer.write(runId, turn);
    },

    async findByKey(key) {
      return await findKey(db, key, now());
    },

    close() {
      replies.stop();
      return reader.close();
    },

    async setStatus(id, change) {
      const { status, from } = change;
      if (status !== "running") numbered.forget(id);
      const tally = change.tally === "count" ? await reader.tally(id) : change.tally;
      const { numUpdatedRows } = await db.updateTable("runs")
        .set(toStatusColumns({ ...change, tally }, now()))
        .where("id", "=", id)
        .$if(from !== undefined, (update) => update.where("status", "in", from!))
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return (await reader.getRecord(id))?.status;
      if (status === "completed") await deleteReplies(db, id);
      return status;
    },

    async unfinishedRuns() {
      const rows = await db.selectFrom("runs").select("id").where("status", "=", "running")
        .orderBy("id").execute();
      return rows.map(({ id }) => id);
    },

    async setGate(id, gate) {
      await db.updateTable("runs").set({ gate }).where("id", "=", id).execute();
    },

    setTag: (name, id) => setTag(db, name, id),
  };
}
