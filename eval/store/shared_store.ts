import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import { countPlaces, listConversations, planOf, turnsOf } from "../test/conversations.ts";
import type { PostgresPool } from "../../shared/service/postgres/pool.ts";
import { createRunIds, type RunStatus, type StoredRun } from "./run_record.ts";
import { readTally } from "./runs/run_reader.ts";
import { toStatusColumns } from "./runs/run_rows.ts";
import { createRunStore } from "./runs/run_store.ts";
import type { RunStore, StatusChange } from "./store.ts";
import { asCommon, type PostgresTables, type Tables } from "./schema/schema.ts";
import type { RunNews } from "./run_news.ts";
import { type AttemptPosition, turnKey, type TurnPosition } from "./turn_record.ts";
import type { InsertTurns, NewTurn } from "./turns/turn_writer.ts";

/** What processes that work on the same runs need beside a store. */
export interface SharedStore extends RunStore {
  /** The statuses of runs; deleted ones are missing. */
  statuses(ids: string[]): Promise<Map<string, RunStatus>>;
  /** True if this process has stored a turn of the run that may be the last one. */
  isNearEnd(id: string): boolean;
  /** True if all turns of a run are stored, or it is not running any more. */
  isFinished(id: string): Promise<boolean>;
  /**
   * The conversations that are not stored as a whole in some places of a run: in the next `portion`
   * that has any. `next` is the place after those that were looked at, if there is one.
   */
  listUnfinished(
    run: StoredRun,
    range: { from: number; portion: number },
  ): Promise<{ left: ListedConversation[]; next: number | undefined }>;
  /** Tells all processes that something about the run has changed. */
  tell(id: string): void;
}

/** A conversation that is not finished. */
interface ListedConversation extends AttemptPosition {
  /** True if a part of it may be stored. */
  isContinued: boolean;
  /** Its place in the order of the batch. */
  place: number;
}

/** What conversations are handed out from. */
export interface JobList {
  /** Adds a run, in the transaction of `executeSql`, so that both are stored or neither is. */
  add(
    runId: string,
    executeSql: (text: string, values?: readonly unknown[]) => Promise<{ rows: unknown[] }>,
  ): Promise<void>;
}

/** A store whose runs several processes work on. Closing it closes `news` and `db`. */
export function createSharedStore(
  db: Kysely<PostgresTables>,
  { pool, news, jobs, now }: {
    pool: PostgresPool;
    news: RunNews;
    jobs: JobList;
    now: () => number;
  },
): SharedStore {
  const common = asCommon(db);
  const nearEnd = new Set<string>();
  const store = createRunStore(common, {
    now,
    // Not after the newest stored id: if the clock was ahead, each process would count up from it.
    newId: createRunIds(now),
    // Clients that wait for the end of a run are told at once.
    insertTurns: createSharedTurnInsert(
      pool,
      (id, { mayBeLast }) => {
        if (mayBeLast) nearEnd.add(id);
        news.tell(id, mayBeLast ? "state" : "turns");
      },
    ),
    complete: (transaction, id) => offer(transaction as never, id),
  });

  /** Hands out the conversations of a run; new turns follow the stored ones. */
  async function offer(transaction: Transaction<PostgresTables>, id: string): Promise<void> {
    const { lastSeq } = await readTally(asCommon(transaction), id);
    await transaction.updateTable("runs").set({ last_seq: lastSeq }).where("id", "=", id).execute();
    await jobs.add(
      id,
      (text, values = []) => transaction.executeQuery(CompiledQuery.raw(text, [...values])),
    );
  }

  async function changeStatus(id: string, change: StatusChange): Promise<RunStatus | undefined> {
    return await db.transaction().execute(async (transaction) => {
      const before = await lockRun(transaction, id); // no turn is stored while the tally is counted
      if (!before || (change.from && !change.from.includes(before.status))) return before?.status;
      const tally = change.tally === "count"
        ? await readTally(asCommon(transaction), id)
        : change.tally;
      await transaction.updateTable("runs").set(toStatusColumns({ ...change, tally }, now()))
        .where("id", "=", id).execute();
      if (change.status === "running" && before.status !== "running") await offer(transaction, id);
      return change.status;
    });
  }

  /** After the transaction that has changed them. */
  function tellStates(ids: string[]): void {
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
      const status = await changeStatus(id, change);
      tellStates([id]);
      return status;
    },

    tell: (id) => news.tell(id, "state"),
    isNearEnd: (id) => nearEnd.has(id),

    async statuses(ids) {
      if (ids.length === 0) return new Map();
      const rows = await db.selectFrom("runs").select(["id", "status"]).where("id", "in", ids)
        .execute();
      return new Map(rows.map(({ id, status }) => [id, status]));
    },

    async listUnfinished(run, { from, portion }) {
      const places = countPlaces(planOf(run.request));
      let left: ListedConversation[] = [];
      let next = from;
      while (left.length === 0 && next < places) {
        const until = Math.min(places, next + portion);
        left = await listUnfinished(common, run, { from: next, until });
        next = until;
      }
      return { left, next: next < places ? next : undefined };
    },

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
      const isFinished = row?.finished ?? true;
      if (isFinished) nearEnd.delete(id);
      return isFinished;
    },

    async close() {
      await news.close();
      await store.close();
    },
  };
}

/** Locks a run until the transaction ends: no turn is stored, and no other process ends it. */
async function lockRun(transaction: Transaction<PostgresTables>, id: string) {
  return await transaction.selectFrom("runs").select("status").where("id", "=", id).forUpdate()
    .executeTakeFirst();
}

/** The conversations in some places of a run that are not stored as a whole, in the order of the batch. */
async function listUnfinished(
  db: Kysely<Tables>,
  { id, parentId, request }: StoredRun,
  range: { from: number; until: number },
): Promise<ListedConversation[]> {
  const plan = planOf(request);
  const wanted = [...listConversations(plan, range)];
  const [first, last] = [wanted[0], wanted.at(-1)];
  if (!first || !last) return [];
  const turns = await db.selectFrom("turns")
    .select(({ fn }) => ["scenario", "attempt", fn.countAll().as("turns")])
    .where("run_id", "=", id).where("scenario", ">=", first.scenario)
    .where("scenario", "<=", last.scenario)
    .groupBy(["scenario", "attempt"])
    .execute();
  const stored = new Map(turns.map((row) => [`${row.scenario}/${row.attempt}`, Number(row.turns)]));
  return wanted.flatMap(({ scenario, attempt, place }) => {
    const count = stored.get(`${scenario}/${attempt}`) ?? 0;
    if (count === turnsOf(plan, scenario)) return [];
    const isContinued = count > 0 || parentId !== null; // the parent may have replies for it
    return [{ scenario, attempt, isContinued, place }];
  });
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
