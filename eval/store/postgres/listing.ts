import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import { countPlaces, listConversations, planOf, turnsOf } from "../../schemas/conversations.ts";
import type { StoredRun } from "../runs/run_record.ts";
import { asCommon, type PostgresTables, type Tables } from "../schema/schema.ts";
import type { AttemptPosition } from "../turns/turn_record.ts";

/** What listing conversations reads of a run. */
type ListedRun = Pick<StoredRun, "id" | "parentId" | "request">;

/** Places that are looked at for one statement; a run may have millions. */
const PORTION = 1_000;
/** Portions of finished conversations that are passed over in one transaction. */
const MOST_PORTIONS = 20;

export type Listing = ReturnType<typeof createListing>;

/**
 * Runs are listed in portions, as their queues run empty: the run's row says how far. The transaction
 * has the row locked, so that no portion is listed twice.
 */
export function createListing(db: Kysely<PostgresTables>, work: WorkList) {
  /** Lists the next portion after `from`; `isAdded` is false if all of it is stored. */
  async function list(
    transaction: Transaction<PostgresTables>,
    run: ListedRun,
    { queue, from }: { queue: string; from: number },
  ): Promise<{ isAdded: boolean }> {
    const places = countPlaces(planOf(run.request));
    const last = Math.min(places, from + PORTION * MOST_PORTIONS);
    let listed = from;
    let isAdded = false;
    while (!isAdded && listed < last) {
      const until = Math.min(places, listed + PORTION);
      const left = await listUnfinished(asCommon(transaction), run, { from: listed, until });
      listed = until;
      isAdded = left.length > 0;
      if (isAdded) await work.add(queue, left, executeIn(transaction));
    }
    await transaction.updateTable("runs").set({ places, listed }).where("id", "=", run.id)
      .execute();
    return { isAdded };
  }

  /** Lists the next portion of a running run; false if nothing is left. */
  async function listMore(run: ListedRun): Promise<boolean> {
    const places = countPlaces(planOf(run.request));
    for (;;) {
      const outcome = await db.transaction().execute(async (transaction) => {
        const now = await lockRun(transaction, run.id);
        if (now?.status !== "running" || !now.queue) return "over";
        if (now.listed === null || now.listed >= places) return "over";
        const { isAdded } = await list(transaction, run, { queue: now.queue, from: now.listed });
        return isAdded ? "added" : "more";
      });
      if (outcome === "added") work.added();
      if (outcome !== "more") return outcome === "added";
    }
  }

  return {
    list,
    listMore,
    /**
     * Lists again what is left of a running run if its queue has nothing of it: the queues were not in
     * a restored dump, or were deleted. False if nothing is left. A conversation leaves its queue after
     * its turns are stored, so none is listed twice.
     */
    async listAgain(run: ListedRun): Promise<boolean> {
      if (await listMore(run)) return true;
      const stored = await db.selectFrom("runs").select("queue").where("id", "=", run.id)
        .where("status", "=", "running").executeTakeFirst();
      const queue = stored?.queue;
      if (!queue || !await work.isEmpty(queue, executeIn(db))) return false;
      await work.prepare(queue); // it may have been deleted
      await db.transaction().execute(async (transaction) => {
        const now = await lockRun(transaction, run.id);
        if (now?.status !== "running" || now.queue !== queue) return;
        if (!await work.isEmpty(queue, executeIn(transaction))) return; // by another process
        await transaction.updateTable("runs").set({ listed: 0 }).where("id", "=", run.id).execute();
      });
      return await listMore(run);
    },
  };
}

/** Locks a run until the transaction ends: no turn is stored, and no other process ends it. */
export async function lockRun(transaction: Transaction<PostgresTables>, id: string) {
  return await transaction.selectFrom("runs").select(["status", "queue", "listed"])
    .where("id", "=", id).forUpdate().executeTakeFirst();
}

/** Runs statements of the queue in a transaction of the store. */
function executeIn(db: Kysely<PostgresTables>): ExecuteSql {
  return async (text, values = []) => await db.executeQuery(CompiledQuery.raw(text, [...values]));
}

/** The conversations in some places of a run that are not stored as a whole, in the order of the batch. */
async function listUnfinished(
  db: Kysely<Tables>,
  { id, parentId, request }: ListedRun,
  range: { from: number; until: number },
): Promise<ListedConversation[]> {
  const plan = planOf(request);
  const places = countPlaces(plan);
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
    if (count === turnsOf(plan, { scenario, attempt })) return [];
    const isContinued = count > 0 || parentId !== null; // the parent may have replies for it
    return [{ scenario, attempt, isContinued, left: places - 1 - place }];
  });
}

/** Runs a statement in the store, or in one of its transactions. */
type ExecuteSql = (
  text: string,
  values?: readonly unknown[],
) => Promise<{ rows: unknown[] }>;

/** A conversation that is not finished. */
export interface ListedConversation extends AttemptPosition {
  /** True if a part of it may be stored. */
  isContinued: boolean;
  /** How many places of the run's plan come after it. */
  left: number;
}

/** The conversations that wait for a process, one queue per run. */
export interface WorkList {
  /** Makes an empty queue, unless there is one; before the transaction that fills it. */
  prepare(queue: string): Promise<void>;
  /** Adds conversations in the transaction of `execute`, so that both exist or neither does. */
  add(queue: string, conversations: ListedConversation[], execute: ExecuteSql): Promise<void>;
  /** True if a queue has no conversation, also none that a process has taken. */
  isEmpty(queue: string, execute: ExecuteSql): Promise<boolean>;
  /** To be called after that transaction. */
  added(): void;
  /** Deletes a queue with all that is in it. */
  drop(queue: string): Promise<void>;
}
