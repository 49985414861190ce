import { type Kysely, sql, type Transaction } from "kysely";
import { datasetOf } from "./dataset.ts";
import { createDatasetStore } from "./dataset_queries.ts";
import { countTurns, planOf } from "../../shared/schemas/conversations.ts";
import { removeQuery } from "./endpoint_query.ts";
import { createGradeWriter, deleteGrades, deleteOrphanGrades } from "./grade_queries.ts";
import { createKeptRuns } from "./kept_runs.ts";
import { createRunReader } from "./run_reader.ts";
import { ALL_TURN_COLUMNS, toRunRow, toTurn, TURN_COLUMNS } from "./run_rows.ts";
import { createReplyWriter } from "./reply_writer.ts";
import { setTag } from "./run_tags.ts";
import type { PendingRepliesTable, Tables } from "./schema.ts";
import type {
  CreatedRun,
  IdempotencyKey,
  KnownRun,
  NewRun,
  PendingReply,
  RunStore,
  StatusChange,
  StoredRun,
  Tally,
} from "./store.ts";
import { createNumberedInsert } from "./numbered_insert.ts";
import { createSummaryQueries } from "./summary_queries.ts";
import { createTurnWriter, type InsertTurns } from "./turn_writer.ts";

/** How long an idempotency key refers to its run. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface RunStoreOptions {
  /** Milliseconds since 1970. */
  now: () => number;
  newId: () => string;
  /** How turns and replies are stored where other processes store them too. */
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

  const kept = createKeptRuns((id) => {
    deleteTurns(db, id).catch(() => {}); // the next start deletes the rest
  });

  const state = createServiceState(db);
  const replies = createReplyWriter(options.insertReplies ?? ((rows) => insertReplies(db, rows)));

  return {
    ...reader,
    ...createSummaryQueries(db),
    ...createGradeWriter(db, { now }),
    ...createDatasetStore(db, options),
    keep: kept.keep,
    recordReply: replies.write,

    recordTurn(runId, turn) {
      replies.drop(runId, turn);
      return writer.write(runId, turn);
    },

    async pendingPositions(runId) {
      return await selectPending(db, runId).select(["scenario", "attempt", "turn"]).execute();
    },

    async pendingReplies(runId, { scenario, attempt }) {
      const rows = await selectPending(db, runId).selectAll()
        .where("scenario", "=", scenario)
        .where("attempt", "=", attempt)
        .execute();
      return rows.map(toPendingReply);
    },

    async countTry(runId, { scenario, attempt, turn }) {
      await db.updateTable("pending_replies")
        .set(({ eb }) => ({ tries: eb("tries", "+", 1) }))
        .where("run_id", "=", runId)
        .where("scenario", "=", scenario)
        .where("attempt", "=", attempt)
        .where("turn", "=", turn)
        .execute();
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
      const dataset = await datasetOf(run.request.test_batch);
      const stored = describeRun(run, { id: newId(), moment, dataset });
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

    async setGate(id, gate) {
      await db.updateTable("runs").set({ gate }).where("id", "=", id).execute();
    },

    setTag: (name, id) => setTag(db, name, id),

    deleteRun: (id) =>
      db.transaction().execute(async (transaction) => {
        if (kept.isKept(id)) kept.markDeleted(id);
        else await deleteTurns(transaction, id);
        await deleteReplies(transaction, id);
        await deleteGrades(transaction, id);
        await transaction.deleteFrom("caller_keys").where("run_id", "=", id).execute();
        await transaction.deleteFrom("run_tags").where("run_id", "=", id).execute();
        const { numDeletedRows } = await transaction.deleteFrom("runs").where("id", "=", id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),

    async countOlderThan(moment) {
      const { runs } = await selectOlder(db, moment)
        .select(({ fn }) => fn.countAll().as("runs")).executeTakeFirstOrThrow();
      return Number(runs);
    },

    async deleteOlderThan(moment) {
      const rows = await selectOlder(db, moment).select("id").execute();
      for (const { id } of rows) await this.deleteRun(id);
      return rows.length;
    },

    checkWrite: () => state.set("written", `${now()} ${PADDING}`),

    async trustedMoment() {
      const trusted = await state.get("trusted_moment");
      if (trusted !== undefined) return Number(trusted);
      const { newest } = await db.selectFrom("runs")
        .select(({ fn }) => fn.max(fn.coalesce("finished_at", "created_at")).as("newest"))
        .executeTakeFirstOrThrow();
      return newest === null ? null : Number(newest);
    },

    trustMoment: (moment) => state.set("trusted_moment", String(moment)),
  };
}

/** A check of the disk writes about as much as a turn does. */
const PADDING = "-".repeat(4096);

function createServiceState(db: Kysely<Tables>) {
  return {
    async get(name: string): Promise<string | undefined> {
      const row = await db.selectFrom("service_state").select("value").where("name", "=", name)
        .executeTakeFirst();
      return row?.value;
    },
    async set(name: string, value: string): Promise<void> {
      await db.insertInto("service_state").values({ name, value })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value })).execute();
    },
  };
}

/** The columns of a run that a new status sets. */
export function toStatusColumns(
  { status, detail, tally }: Omit<StatusChange, "tally"> & { tally?: Tally | undefined },
  moment: number,
) {
  const isOver = status !== "running" && status !== "interrupted";
  return {
    status,
    detail: detail ?? null,
    tally: tally ? JSON.stringify(tally) : null,
    finished_at: isOver ? moment : null,
    overall: null, // what was computed before, if anything, is out of date
    headline: null,
    summary: null,
  };
}

/** The ended runs from before a time; those with a tag are kept, however old. */
function selectOlder(db: Kysely<Tables>, moment: number) {
  return db.selectFrom("runs")
    .where("status", "!=", "running")
    .where("id", "not in", (tagged) => tagged.selectFrom("run_tags").select("run_id"))
    .where(({ fn }) => fn.coalesce("finished_at", "created_at"), "<", moment);
}

export async function deleteTurns(db: Kysely<Tables>, runId: string): Promise<void> {
  await db.deleteFrom("turns").where("run_id", "=", runId).execute();
}

/**
 * Deletes the turns and grades of deleted runs, if a process ended before it could. The query steps from run to
 * run in the index and reads no turn.
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
  await deleteOrphanGrades(db);
}

/** Stores the key of a new run, or returns the run that the key already refers to. */
async function claimKey(
  transaction: Transaction<Tables>,
  { idempotency }: NewRun,
  { id, moment }: { id: string; moment: number },
): Promise<CreatedRun | undefined> {
  if (!idempotency) return undefined;
  const { caller, key, bodyHash } = idempotency;
  await transaction.deleteFrom("caller_keys")
    .where("created_at", "<=", moment - KEY_LIFETIME_MS).execute();
  const known = await findKey(transaction, idempotency, moment);
  if (known) return known;
  const { numInsertedOrUpdatedRows } = await transaction.insertInto("caller_keys")
    .values({ caller, idempotency_key: key, body_hash: bodyHash, run_id: id, created_at: moment })
    .onConflict((conflict) => conflict.columns(["caller", "idempotency_key"]).doNothing())
    .executeTakeFirst();
  // Another process stored the key at the same moment; its transaction has ended by now.
  if (numInsertedOrUpdatedRows === 0n) return await findKey(transaction, idempotency, moment);
}

/** Keys without a caller (of earlier versions, or of a service without API keys) match any caller. */
async function findKey(
  db: Kysely<Tables>,
  { caller, key, bodyHash }: IdempotencyKey,
  moment: number,
): Promise<KnownRun | undefined> {
  const known = await db.selectFrom("caller_keys").selectAll()
    .where("idempotency_key", "=", key)
    .where("caller", "in", [caller, ""])
    .where("created_at", ">", moment - KEY_LIFETIME_MS)
    .orderBy("caller", "desc")
    .executeTakeFirst();
  if (!known) return undefined;
  return { outcome: known.body_hash === bodyHash ? "known" : "mismatch", id: known.run_id };
}

export async function deleteReplies(db: Kysely<Tables>, runId: string): Promise<void> {
  await db.deleteFrom("pending_replies").where("run_id", "=", runId).execute();
}

async function insertReplies(db: Kysely<Tables>, rows: PendingRepliesTable[]): Promise<void> {
  await db.insertInto("pending_replies").values(rows)
    .onConflict((conflict) =>
      conflict.columns(["run_id", "scenario", "attempt", "turn"])
        .doUpdateSet({ tries: 0, reply: ({ ref }) => ref("excluded.reply") })
    ).execute();
}

/** The replies of a run whose turns are not stored, in the order of the batch. */
function selectPending(db: Kysely<Tables>, runId: string) {
  return db.selectFrom("pending_replies")
    .where("run_id", "=", runId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(
        selectFrom("turns").select("turns.turn")
          .whereRef("turns.run_id", "=", "pending_replies.run_id")
          .whereRef("turns.scenario", "=", "pending_replies.scenario")
          .whereRef("turns.attempt", "=", "pending_replies.attempt")
          .whereRef("turns.turn", "=", "pending_replies.turn"),
      ))
    )
    .orderBy("scenario").orderBy("attempt").orderBy("turn");
}

function toPendingReply(
  { scenario, attempt, turn, tries, reply }: PendingRepliesTable,
): PendingReply {
  const stored = JSON.parse(reply);
  const { usage, latency_ms: latencyMs, finish_reason: finishReason, reasoning } = stored;
  return {
    ...{ scenario, attempt, turn, tries },
    content: stored.agent_reply ?? stored.content,
    usage,
    latencyMs,
    ...(finishReason !== undefined && { finishReason }),
    ...(reasoning !== undefined && { reasoning }),
    ...(stored.reply_encoding && { encoding: stored.reply_encoding }),
    ...(stored.tool_calls && { toolCalls: stored.tool_calls }),
    ...(stored.cost !== undefined && { cost: stored.cost }),
  };
}

function describeRun(
  { request, testName, parentId }: NewRun,
  { id, moment, dataset }: { id: string; moment: number; dataset: string },
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
    dataset,
    gate: null,
    request: { ...request, endpoint },
  };
}

/**
 * Copies the parent's turns up to the first failed one of each attempt. Later turns were asked
 * without the failed one in their history, so they do not fit the new conversation. Of a turn whose
 * `overall` is missing only the reply is copied, to be scored again.
 */
async function copyAnswered(
  transaction: Transaction<Tables>,
  parentId: string,
  id: string,
): Promise<void> {
  const [, ...columns] = ALL_TURN_COLUMNS;
  const selectKept = (missing: 0 | 1) =>
    transaction.selectFrom("turns")
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
      .where("turns.run_id", "=", parentId)
      .where("turns.missing", "=", missing)
      .where((where) =>
        where.or([
          where("failures.first", "is", null),
          where("turns.turn", "<", where.ref("failures.first")),
        ])
      );
  await transaction.insertInto("turns")
    .columns(ALL_TURN_COLUMNS)
    .expression(selectKept(0).select(columns.map((column) => `turns.${column}` as const)))
    .execute();
  await transaction.insertInto("pending_replies")
    .columns(["run_id", "scenario", "attempt", "turn", "reply", "tries"])
    .expression(
      selectKept(1)
        .select(["turns.scenario", "turns.attempt", "turns.turn", "turns.result"])
        .select(({ lit }) => [lit(0).as("tries")]),
    )
    .execute();
}
