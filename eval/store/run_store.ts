import type { Kysely, Transaction } from "kysely";
import { countTurns, planOf } from "../../shared/schemas/conversations.ts";
import { createAttemptQueries } from "./attempt_queries.ts";
import { digestBatch } from "./batch_digest.ts";
import { createDatasetStore } from "./dataset_queries.ts";
import { removeQuery } from "./endpoint_query.ts";
import { createGradeWriter } from "./grade_queries.ts";
import { claimKey, findKey } from "./idempotency_keys.ts";
import { createNumberedInsert } from "./numbered_insert.ts";
import { createPendingReplies, deleteReplies, insertReplies } from "./pending_replies.ts";
import { createReplyWriter } from "./reply_writer.ts";
import { copyAnswered } from "./retried_turns.ts";
import { createRunDeletion } from "./run_deletion.ts";
import { createRunReader } from "./run_reader.ts";
import { toRunRow } from "./run_rows.ts";
import { toStatusColumns } from "./run_status.ts";
import { setTag } from "./run_tags.ts";
import type { PendingRepliesTable, Tables } from "./schema.ts";
import { createServiceState } from "./service_state.ts";
import type { CreatedRun, NewRun, RunStore, StoredRun } from "./store.ts";
import { createSummaryQueries } from "./summary_queries.ts";
import { createTurnWriter, type InsertTurns } from "./turn_writer.ts";

export interface RunStoreOptions {
  /** Milliseconds since 1970. */
  now: () => number;
  newId: () => string;
  /** How turns and replies are stored if other processes store them too. */
  insertTurns?: InsertTurns;
  insertReplies?: (rows: PendingRepliesTable[]) => Promise<void>;
  /** Called before a run is stored. */
  prepareRun?: (run: StoredRun, wanted: NewRun) => Promise<PreparedRun>;
}

/** What is stored together with a run. */
export interface PreparedRun {
  /** Called in the transaction that stores the run, at its end. */
  store(transaction: Transaction<Tables>): Promise<void>;
  /** Called if the run is not stored after all. */
  drop(): Promise<void>;
}

/** Stores runs in any database that has the tables. */
export function createRunStore(db: Kysely<Tables>, options: RunStoreOptions): RunStore {
  const { now, newId, prepareRun } = options;
  const reader = createRunReader(db);
  const numbered = createNumberedInsert(db);
  const writer = createTurnWriter(options.insertTurns ?? numbered.insert);

  const replies = createReplyWriter(options.insertReplies ?? ((rows) => insertReplies(db, rows)));

  return {
    ...reader,
    ...createSummaryQueries(db),
    ...createGradeWriter(db, { now }),
    ...createDatasetStore(db, options),
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

    async createRun(run) {
      const moment = now();
      const batchDigest = await digestBatch(run.request.test_batch);
      const stored = describeRun(run, { id: newId(), moment, batchDigest });
      const row = await toRunRow(stored); // before the transaction, because others wait for it
      const prepared = await prepareRun?.(stored, run);
      let created: CreatedRun | undefined;
      try {
        created = await db.transaction().execute(async (transaction): Promise<CreatedRun> => {
          const known = await claimKey(transaction, run, { id: stored.id, moment });
          if (known) return known;
          await transaction.insertInto("runs").values(row).execute();
          if (run.parentId !== undefined) await copyAnswered(transaction, run.parentId, stored.id);
          await prepared?.store(transaction);
          return { outcome: "created", id: stored.id, run: stored };
        });
        return created;
      } finally {
        if (created?.outcome !== "created") await prepared?.drop();
      }
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

function describeRun(
  { request, testName, parentId }: NewRun,
  { id, moment, batchDigest }: { id: string; moment: number; batchDigest: string },
): StoredRun {
  const endpoint = removeQuery(request.endpoint);
  return {
    id,
    parentId: parentId ?? null,
    status: "running",
    detail: null,
    testName,
    modelId: request.model_id,
    endpoint,
    attempts: request.attempts,
    totalTurns: countTurns(planOf(request)),
    createdAt: moment,
    finishedAt: null,
    tally: null,
    queryRemoved: endpoint !== request.endpoint,
    batchDigest,
    gate: null,
    request: { ...request, endpoint },
  };
}
