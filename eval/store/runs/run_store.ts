import type { ExpressionBuilder, Kysely } from "kysely";
import { createDatasetStore } from "../datasets.ts";
import { createGradeWriter } from "../grades.ts";
import { createRunCreation, findKey, type RunCreationOptions } from "./run_creation.ts";
import { createNumberedInsert, createTurnWriter, type InsertTurns } from "../turns/turn_writer.ts";
import { createRunReader } from "./run_reader.ts";
import { toStatusColumns, toTurn, TURN_COLUMNS } from "./run_rows.ts";
import type { Tables } from "../schema/schema.ts";
import type { RunStore } from "../store.ts";
import type { SummaryQueries } from "../list_query.ts";

interface RunStoreOptions extends RunCreationOptions {
  /** A connection that waits for no writer; `db` reads, too, if it is unset. */
  reads?: Kysely<Tables>;
  /** How turns are stored if other processes store them too. */
  insertTurns?: InsertTurns;
}

/** Stores runs in any database that has the tables. */
export function createRunStore(db: Kysely<Tables>, options: RunStoreOptions): RunStore {
  const { now, reads = db } = options;
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

    async checkRead() {
      const { runs: [newest] } = await reader.listRuns({ limit: 1 });
      if (newest) await reader.turnsAfter(newest.id, { seq: 0, limit: 1 });
    },

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

    async describeRun(id, { testName, tags }) {
      await db.transaction().execute(async (transaction) => {
        if (testName !== undefined) {
          await transaction.updateTable("runs").set({ test_name: testName }).where("id", "=", id)
            .execute();
        }
        if (!tags) return;
        await transaction.deleteFrom("run_tags").where("run_id", "=", id).execute();
        for (const name of tags) await setTag(transaction, name, id);
      });
    },
  };
}

/** A tag names one run at a time. */
async function setTag(db: Kysely<Tables>, name: string, run_id: string): Promise<void> {
  await db.insertInto("run_tags").values({ name, run_id })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ run_id })).execute();
}

/** A check of the disk writes about as much as a turn does. */
const PADDING = "-".repeat(4096);

/** What the store keeps about the service itself. */
function createServiceState(
  db: Kysely<Tables>,
  { now }: { now: () => number },
): Pick<RunStore, "checkWrite" | "trustedMoment" | "trustMoment"> {
  async function get(name: string): Promise<string | undefined> {
    const row = await db.selectFrom("service_state").select("value").where("name", "=", name)
      .executeTakeFirst();
    return row?.value;
  }

  async function set(name: string, value: string): Promise<void> {
    await db.insertInto("service_state").values({ name, value })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value })).execute();
  }

  return {
    checkWrite: () => set("written", `${now()} ${PADDING}`),

    async trustedMoment() {
      const trusted = await get("trusted_moment");
      if (trusted !== undefined) return Number(trusted);
      const { newest } = await db.selectFrom("runs")
        .select(({ fn }) => fn.max(fn.coalesce("finished_at", "created_at")).as("newest"))
        .executeTakeFirstOrThrow();
      return newest === null ? null : Number(newest);
    },

    trustMoment: (moment) => set("trusted_moment", String(moment)),
  };
}

function createSummaryQueries(
  db: Kysely<Tables>,
  { reads }: { reads: Kysely<Tables> },
): SummaryQueries {
  return {
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

/** Reads the stored turns attempt by attempt, for a run that is resumed. */
function createAttemptQueries(
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

/** Deletes runs with their turns, grades, tags and keys. */
function createRunDeletion(
  db: Kysely<Tables>,
  { reads }: { reads: Kysely<Tables> },
): Pick<RunStore, "deleteRun" | "countOlderThan" | "deleteOlderThan"> {
  return {
    async deleteRun(id, { endedBefore } = {}) {
      return await db.transaction().execute(async (transaction) => {
        // First, because it locks the run: a process that resumes it waits, and then finds none.
        const run = await transaction.deleteFrom("runs").where("id", "=", id)
          .$if(endedBefore !== undefined, (query) => query.where(isOlder(endedBefore!)))
          .returning("group_id").executeTakeFirst();
        if (!run) return false;
        for (const table of ["turns", "grades", "run_tags", "caller_keys"] as const) {
          await transaction.deleteFrom(table).where("run_id", "=", id).execute();
        }
        if (run.group_id) await forgetEmptyGroup(transaction, run.group_id);
        return true;
      });
    },

    async countOlderThan(moment) {
      const { runs } = await reads.selectFrom("runs").where(isOlder(moment))
        .select(({ fn }) => fn.countAll().as("runs")).executeTakeFirstOrThrow();
      return Number(runs);
    },

    async deleteOlderThan(moment) {
      const rows = await db.selectFrom("runs").select("id").where(isOlder(moment)).execute();
      let deleted = 0;
      for (const { id } of rows) {
        if (await this.deleteRun(id, { endedBefore: moment })) deleted++;
      }
      return deleted;
    },
  };
}

/** A group is its runs; once there are none, the key of its request refers to nothing. */
async function forgetEmptyGroup(db: Kysely<Tables>, groupId: string): Promise<void> {
  const left = await db.selectFrom("runs").select("id").where("group_id", "=", groupId)
    .executeTakeFirst();
  if (!left) await db.deleteFrom("caller_keys").where("run_id", "=", groupId).execute();
}

/** True for an ended run from before a time; one with a tag is kept, however old. */
function isOlder(moment: number) {
  return ({ and, eb, fn, selectFrom }: ExpressionBuilder<Tables, "runs">) =>
    and([
      eb("status", "!=", "running"),
      eb("id", "not in", selectFrom("run_tags").select("run_id")),
      eb(fn.coalesce("finished_at", "created_at"), "<", moment),
    ]);
}
