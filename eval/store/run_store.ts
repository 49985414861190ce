import { CompiledQuery, type Kysely, sql, type Transaction } from "kysely";
import { createKeptRuns } from "./kept_runs.ts";
import { createRunReader } from "./run_reader.ts";
import { ALL_TURN_COLUMNS, toRunRow, toTurn, TURN_COLUMNS } from "./run_rows.ts";
import type { Tables, TurnsTable } from "./schema.ts";
import type { CreatedRun, NewRun, RunStore, StoredRun } from "./store.ts";
import { createTurnWriter } from "./turn_writer.ts";

/** How long a caller's key names its run. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface RunStoreOptions {
  /** Milliseconds since 1970. */
  now: () => number;
  newId: () => string;
}

/** Keeps runs in any database that has the tables. */
export function createRunStore(db: Kysely<Tables>, { now, newId }: RunStoreOptions): RunStore {
  const reader = createRunReader(db);
  const writer = createTurnWriter({
    insert: createTurnInsert(db),
    lastSeq: async (runId) => (await reader.tally(runId)).lastSeq,
  });

  const kept = createKeptRuns((id) => {
    deleteTurns(db, id).catch(() => {}); // the next start deletes what is left
  });

  return {
    ...reader,
    keep: kept.keep,
    recordTurn: writer.write,

    async createRun(run) {
      const moment = now();
      const stored = describeRun(run, { id: newId(), moment });
      const row = await toRunRow(stored); // before the transaction, which others wait for
      return await db.transaction().execute(async (transaction): Promise<CreatedRun> => {
        const known = await claimKey(transaction, run, { id: stored.id, moment });
        if (known) return known;
        await transaction.insertInto("runs").values(row).execute();
        if (run.parentId !== undefined) await copyAnswered(transaction, run.parentId, stored.id);
        return { outcome: "created", id: stored.id, run: stored };
      });
    },

    async setStatus(id, { status, detail, tally }) {
      if (status !== "running") writer.forget(id);
      const isOver = status !== "running" && status !== "interrupted";
      await db.updateTable("runs")
        .set({
          status,
          detail: detail ?? null,
          tally: tally ? JSON.stringify(tally) : null,
          finished_at: isOver ? now() : null,
        })
        .where("id", "=", id)
        .execute();
    },

    async unfinishedRuns() {
      const rows = await db.selectFrom("runs").select("id").where("status", "=", "running")
        .orderBy("id").execute();
      return rows.map(({ id }) => id);
    },

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

    deleteRun: (id) =>
      db.transaction().execute(async (transaction) => {
        if (kept.isKept(id)) kept.condemn(id);
        else await deleteTurns(transaction, id);
        await transaction.deleteFrom("idempotency_keys").where("run_id", "=", id).execute();
        const { numDeletedRows } = await transaction.deleteFrom("runs").where("id", "=", id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),

    async deleteOlderThan(moment) {
      const rows = await db.selectFrom("runs").select("id")
        .where("status", "!=", "running")
        .where(({ fn }) => fn.coalesce("finished_at", "created_at"), "<", moment)
        .execute();
      for (const { id } of rows) await this.deleteRun(id);
      return rows.length;
    },
  };
}

async function deleteTurns(db: Kysely<Tables>, runId: string): Promise<void> {
  await db.deleteFrom("turns").where("run_id", "=", runId).execute();
}

/**
 * Deletes the turns of runs that are no more: a process ended before it could. The query steps from
 * run to run in the index and reads no turn.
 */
export async function deleteOrphans(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    with recursive ids(id) as (
      select min(run_id) from turns
      union all
      select (select min(run_id) from turns where run_id > ids.id) from ids where ids.id is not null
    )
    select id from ids
    where id is not null and not exists (select 1 from runs where runs.id = ids.id)`.execute(db);
  for (const { id } of rows) await deleteTurns(db, id);
}

/** Ties a caller's key to the run that is about to be stored, unless it is tied to one already. */
async function claimKey(
  transaction: Transaction<Tables>,
  { idempotency }: NewRun,
  { id, moment }: { id: string; moment: number },
): Promise<CreatedRun | undefined> {
  if (!idempotency) return undefined;
  const { key, bodyHash } = idempotency;
  await transaction.deleteFrom("idempotency_keys")
    .where("created_at", "<=", moment - KEY_LIFETIME_MS).execute();
  const known = await transaction.selectFrom("idempotency_keys").selectAll()
    .where("idempotency_key", "=", key).executeTakeFirst();
  if (known) {
    return { outcome: known.body_hash === bodyHash ? "known" : "mismatch", id: known.run_id };
  }
  await transaction.insertInto("idempotency_keys")
    .values({ idempotency_key: key, body_hash: bodyHash, run_id: id, created_at: moment })
    .execute();
}

function describeRun(
  { request, testName, parentId }: NewRun,
  { id, moment }: { id: string; moment: number },
): StoredRun {
  const interactions = request.test_batch.reduce(
    (sum, scenario) => sum + scenario.interactions.length,
    0,
  );
  return {
    id,
    parentId: parentId ?? null,
    status: "running",
    detail: null,
    testName,
    modelId: request.model_id,
    endpoint: request.endpoint,
    attempts: request.attempts,
    totalTurns: interactions * request.attempts,
    createdAt: moment,
    finishedAt: null,
    tally: null,
    request,
  };
}

/** Batches of one size are one statement: building it anew would cost more than running it. */
function createTurnInsert(db: Kysely<Tables>): (rows: TurnsTable[]) => Promise<void> {
  const statements = new Map<number, string>();
  return async (rows) => {
    let statement = statements.get(rows.length);
    if (statement === undefined) {
      statement = db.insertInto("turns").columns(ALL_TURN_COLUMNS).values(rows)
        .onConflict((conflict) => conflict.doNothing()).compile().sql;
      statements.set(rows.length, statement);
    }
    const parameters = rows.flatMap((row) => ALL_TURN_COLUMNS.map((column) => row[column]));
    await db.executeQuery(CompiledQuery.raw(statement, parameters));
  };
}

/**
 * The child begins with its parent's turns up to the first failed one of each attempt. A turn after
 * that was asked without it: kept, it would pass for an answer to a conversation that never was.
 */
async function copyAnswered(
  transaction: Transaction<Tables>,
  parentId: string,
  id: string,
): Promise<void> {
  const [, ...columns] = ALL_TURN_COLUMNS;
  await transaction.insertInto("turns")
    .columns(ALL_TURN_COLUMNS)
    .expression((from) =>
      from.selectFrom("turns")
        .leftJoin(
          (failures) =>
            failures.selectFrom("turns as failed_turns")
              .select(({ fn }) => ["scenario", "attempt", fn.min("turn").as("first")])
              .where("run_id", "=", parentId)
              .where("failed", "=", 1)
              .groupBy(["scenario", "attempt"])
              .as("failures"),
          (join) =>
            join.onRef("failures.scenario", "=", "turns.scenario")
              .onRef("failures.attempt", "=", "turns.attempt"),
        )
        .select(({ val }) => [val(id).as("run_id")])
        .select(columns.map((column) => `turns.${column}` as const))
        .where("turns.run_id", "=", parentId)
        .where((where) =>
          where.or([
            where("failures.first", "is", null),
            where("turns.turn", "<", where.ref("failures.first")),
          ])
        )
    )
    .execute();
}
