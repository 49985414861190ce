import { type Kysely, sql, type Transaction } from "kysely";
import type { PostgresPool } from "../../../shared/postgres/pool.ts";
import { createRunIds, type RunStatus, type StoredRun } from "../runs/run_record.ts";
import { createRunReader, readTally } from "../runs/run_reader.ts";
import { toStatusColumns } from "../runs/run_rows.ts";
import { createRunStore } from "../runs/run_store.ts";
import type { RunStore, StatusChange } from "../store.ts";
import { asCommon, type PostgresTables } from "../schema/schema.ts";
import type { RunNews } from "./run_news.ts";
import { turnKey, type TurnPosition } from "../turns/turn_record.ts";
import type { InsertTurns, NewTurn } from "../turns/turn_writer.ts";
import { createListing, type Listing, lockRun, type WorkList } from "./listing.ts";

/** What processes that work on the same runs need beside a store. */
export interface SharedStore extends RunStore, Pick<Listing, "listMore" | "listAgain"> {
  /** Runs that this process may work on, oldest first: running, and not reserved by another. */
  openRuns(): Promise<string[]>;
  /** The statuses of runs; deleted ones are missing. */
  statuses(ids: string[]): Promise<Map<string, RunStatus>>;
  /** The queue of a run's conversations. */
  queueOf(id: string): Promise<string | undefined>;
  /** True if all turns of a run are stored, or it is not running any more. */
  isFinished(id: string): Promise<boolean>;
  /** The queues of running runs. */
  usedQueues(): Promise<string[]>;
  /** Keeps other processes from working on the runs of this one for `RESERVED_SECONDS`. */
  reserve(ids: string[]): Promise<void>;
}

/** How long a process may take to renew its reservation. */
const RESERVED_SECONDS = 15;

/** A store whose runs several processes work on. Closing it closes `news` and `db`. */
export function createSharedStore(
  db: Kysely<PostgresTables>,
  { pool, news, work, now }: {
    pool: PostgresPool;
    news: RunNews;
    work: WorkList;
    now: () => number;
  },
): SharedStore {
  const common = asCommon(db);
  const { list, listMore, listAgain } = createListing(db, work);
  const store = createRunStore(common, {
    now,
    // Not after the newest stored id: if the clock was ahead, each process would count up from it.
    newId: createRunIds(now),
    // Clients that wait for the end of a run are told at once.
    insertTurns: createSharedTurnInsert(
      pool,
      (id, { mayBeLast }) => news.tell(id, mayBeLast ? "state" : "turns"),
    ),
    async prepareRun(run, { isReserved = false }) {
      const queue = queueFor(run.id);
      await work.prepare(queue);
      return {
        store: (transaction) => fill(transaction as never, run, { queue, isReserved }),
        drop: () => work.drop(queue).catch(() => {}), // swept later, as after a failure
      };
    },
  });

  /** Lists the first unfinished conversations in the new queue; new turns follow the stored ones. */
  async function fill(
    transaction: Transaction<PostgresTables>,
    run: StoredRun,
    { queue, isReserved }: { queue: string; isReserved: boolean },
  ): Promise<void> {
    await list(transaction, run, { queue, from: 0 });
    const { lastSeq } = await readTally(asCommon(transaction), run.id);
    await transaction.updateTable("runs")
      .set({ queue, last_seq: lastSeq, reserved_until: isReserved ? reservation() : null })
      .where("id", "=", run.id).execute();
  }

  async function reopen(id: string, change: StatusChange): Promise<RunStatus | undefined> {
    const queue = queueFor(id);
    await work.prepare(queue);
    let isUsed = false;
    try {
      return await db.transaction().execute(async (transaction) => {
        const before = await lockRun(transaction, id);
        const mayChange = !change.from || (before && change.from.includes(before.status));
        if (!before || !mayChange || before.status === "running") return before?.status;
        await transaction.updateTable("runs").set(toStatusColumns({ status: "running" }, now()))
          .where("id", "=", id).execute();
        const run = await createRunReader(asCommon(transaction)).getRun(id);
        await fill(transaction, run!, { queue, isReserved: change.isReserved ?? false });
        isUsed = true;
        return "running";
      });
    } finally {
      if (!isUsed) await work.drop(queue).catch(() => {});
    }
  }

  async function endRun(id: string, change: StatusChange): Promise<RunStatus | undefined> {
    let queue: string | null = null;
    const status = await db.transaction().execute(async (transaction) => {
      const before = await lockRun(transaction, id); // no turn is stored while the tally is counted
      if (!before || (change.from && !change.from.includes(before.status))) return before?.status;
      const tally = change.tally === "count"
        ? await readTally(asCommon(transaction), id)
        : change.tally;
      queue = before.queue;
      await transaction.updateTable("runs")
        .set({ ...toStatusColumns({ ...change, tally }, now()), queue: null, reserved_until: null })
        .where("id", "=", id).execute();
      return change.status;
    });
    if (queue !== null) await work.drop(queue).catch(() => {}); // swept later
    return status;
  }

  /** After the transaction that has changed them. */
  function tellStates(ids: string[]): void {
    work.added();
    for (const id of ids) news.tell(id, "state");
  }

  return {
    ...store,

    async createRun(run) {
      const created = await store.createRun(run);
      tellStates([created.id]);
      return created;
    },

    async createGroup(group) {
      const created = await store.createGroup(group);
      if (created.outcome === "created") tellStates(created.runs.map(({ id }) => id));
      return created;
    },

    async setStatus(id, change) {
      const status = change.status === "running"
        ? await reopen(id, change)
        : await endRun(id, change);
      tellStates([id]);
      return status;
    },

    async openRuns() {
      const rows = await db.selectFrom("runs").select("id")
        .where("status", "=", "running")
        .where(({ or, eb }) =>
          or([
            eb("reserved_until", "is", null),
            eb("reserved_until", "<", sql<Date>`now()`),
          ])
        )
        .orderBy("id").execute();
      return rows.map(({ id }) => id);
    },

    async statuses(ids) {
      if (ids.length === 0) return new Map();
      const rows = await db.selectFrom("runs").select(["id", "status"]).where("id", "in", ids)
        .execute();
      return new Map(rows.map(({ id, status }) => [id, status]));
    },

    async queueOf(id) {
      const row = await db.selectFrom("runs").select("queue").where("id", "=", id)
        .executeTakeFirst();
      return row?.queue ?? undefined;
    },

    listMore,
    listAgain,

    async isFinished(id) {
      const { rows: [row] } = await pool.query<{ finished: boolean }>({
        name: "is_finished",
        // The newest number is never below the number of turns: they are counted near the end only.
        text: `select case
            when status <> 'running' then true
            when last_seq < total_turns then false
            else (select count(*) from turns where run_id = runs.id) >= total_turns
          end as finished
          from runs where id = $1`,
        values: [id],
      });
      return row?.finished ?? true;
    },

    async usedQueues() {
      const rows = await db.selectFrom("runs").select("queue").where("status", "=", "running")
        .where("queue", "is not", null).execute();
      return rows.map(({ queue }) => queue!);
    },

    async reserve(ids) {
      if (ids.length === 0) return;
      await db.updateTable("runs")
        .set({ reserved_until: reservation() })
        .where("id", "in", ids).where("status", "=", "running")
        .execute();
    },

    async close() {
      await news.close();
      await store.close();
    },
  };
}

/** By the clock of the database, which all processes share. */
function reservation() {
  return sql<Date>`now() + make_interval(secs => ${RESERVED_SECONDS})`;
}

/** A name that was never used: a queue that is dropped late must not be that of a resumed run. */
function queueFor(runId: string): string {
  return `run-${runId}-${crypto.randomUUID().slice(0, 8)}`;
}

/**
 * Locks the run, numbers the turns and stores them, all in one statement. The lock is held until the
 * turns are committed, so that turns of several processes become visible in the order of their
 * numbers. Nothing is stored for a run that has ended: its tally is final.
 */
const INSERT_TURNS = `
  with locked as (
    update runs set last_seq = last_seq + $2
    where id = $1 and status = 'running'
    returning last_seq - $2 as base, last_seq >= total_turns as may_be_last
  ), stored as (
    insert into turns
      (run_id, scenario, attempt, turn, seq, failed, missing, overall, took_ms, result, facets)
    select $1, t.scenario, t.attempt, t.turn, locked.base + t.place, t.failed, t.missing, t.overall,
      t.took_ms, t.result, t.facets::json
    from locked, unnest($3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::float8[],
      $9::int[], $10::text[], $11::text[]) with ordinality
      as t (scenario, attempt, turn, failed, missing, overall, took_ms, result, facets, place)
    on conflict (run_id, scenario, attempt, turn) do nothing
    returning scenario, attempt, turn
  )
  select scenario, attempt, turn, may_be_last as "mayBeLast" from stored, locked`;

type StoredPosition = TurnPosition & { mayBeLast: boolean };

/** Calls `onStored` with the runs that have new turns; `mayBeLast` if none may be left. */
function createSharedTurnInsert(
  pool: PostgresPool,
  onStored: (runId: string, how: { mayBeLast: boolean }) => void,
): InsertTurns {
  async function insertOf(runId: string, turns: NewTurn[]): Promise<Set<string>> {
    const column = (name: keyof NewTurn) => turns.map((turn) => turn[name]);
    const { rows } = await pool.query<StoredPosition>({
      name: "insert_turns",
      text: INSERT_TURNS,
      values: [
        runId,
        turns.length,
        column("scenario"),
        column("attempt"),
        column("turn"),
        column("failed"),
        column("missing"),
        column("overall"),
        column("took_ms"),
        column("result"),
        column("facets"),
      ],
    });
    if (rows[0]) onStored(runId, rows[0]);
    return new Set(rows.map(turnKey));
  }

  return async (turns) => {
    const byRun = Map.groupBy(turns, ({ run_id }) => run_id);
    const stored = new Map(
      await Promise.all(
        [...byRun].map(async ([runId, own]) => [runId, await insertOf(runId, own)] as const),
      ),
    );
    return turns.map((turn) => stored.get(turn.run_id)!.delete(turnKey(turn)));
  };
}
