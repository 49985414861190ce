import type { Kysely } from "kysely";
import { createAttemptQueries } from "../turns/attempt_queries.ts";
import { createDatasetStore } from "../datasets/dataset_queries.ts";
import { createGradeWriter } from "../grades/grade_queries.ts";
import { findKey } from "./idempotency_keys.ts";
import { createNumberedInsert } from "../turns/numbered_insert.ts";
import { createReadCheck, type ReadCheck } from "./read_check.ts";
import { createRunCreation, type RunCreationOptions } from "./run_creation.ts";
import { createRunDeletion } from "./run_deletion.ts";
import { createRunReader } from "./run_reader.ts";
import { toStatusColumns } from "./run_status.ts";
import { describeRun, setTag } from "./run_tags.ts";
import type { Tables } from "../schema/schema.ts";
import { createServiceState } from "./service_state.ts";
import type { RunStore } from "../store.ts";
import { createSummaryQueries } from "./lists/summary_queries.ts";
import { createTurnWriter, type InsertTurns } from "../turns/turn_writer.ts";

interface RunStoreOptions extends RunCreationOptions {
  /** A connection that waits for no writer; `db` reads, too, if it is unset. */
  reads?: Kysely<Tables>;
  /** Told by kysely of reads that failed. */
  readCheck?: ReadCheck;
  /** How turns are stored if other processes store them too. */
  insertTurns?: InsertTurns;
}

/** Stores runs in any database that has the tables. */
export function createRunStore(db: Kysely<Tables>, options: RunStoreOptions): RunStore {
  const { now, reads = db, readCheck = createReadCheck() } = options;
  const reader = createRunReader(reads);
  const numbered = createNumberedInsert(db);
  const writer = createTurnWriter(options.insertTurns ?? numbered.insert);

  return {
    ...reader,
    ...createSummaryQueries(db, { reads }),
    ...createGradeWriter(db, { now }),
    ...createDatasetStore(db, { now }),
    ...createRunCreation(db, options),
    ...createRunDeletion(db, { reads }),
    ...createAttemptQueries(reads),
    ...createServiceState(db, options),
    recordTurn: writer.write,

    async findByKey(key) {
      return await findKey(reads, key, now());
    },

    checkRead: () => readCheck.check(reads, reader),

    async close() {
      if (reads !== db) await reads.destroy();
      await db.destroy();
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
      return status;
    },

    async unfinishedRuns() {
      const rows = await reads.selectFrom("runs").select("id").where("status", "=", "running")
        .orderBy("id").execute();
      return rows.map(({ id }) => id);
    },

    async setGate(id, gate) {
      await db.updateTable("runs").set({ gate }).where("id", "=", id).execute();
    },

    setTag: (name, id) => setTag(db, name, id),

    describeRun: (id, change) => describeRun(db, id, change),
  };
}
