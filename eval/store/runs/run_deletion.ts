import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import { deleteGrades, deleteOrphanGrades } from "../grades/grade_queries.ts";
import type { Tables } from "../schema/schema.ts";
import type { RunStore } from "../store.ts";

/** Deletes runs. The turns of a run that is being read are deleted after its last reader. */
export function createRunDeletion(
  db: Kysely<Tables>,
  { reads }: { reads: Kysely<Tables> },
): Pick<RunStore, "keep" | "deleteRun" | "countOlderThan" | "deleteOlderThan"> {
  const kept = createKeptRuns((id) => {
    deleteTurnsOfDeleted(db, id).catch(() => {}); // the next start deletes the rest
  });

  return {
    keep: kept.keep,

    async deleteRun(id, { endedBefore } = {}) {
      let isKept = false;
      try {
        return await db.transaction().execute(async (transaction) => {
          // First, because it locks the run: who resumes it meanwhile waits and finds none.
          const run = await transaction.deleteFrom("runs").where("id", "=", id)
            .$if(endedBefore !== undefined, (query) => query.where(isOlder(endedBefore!)))
            .returning("group_id").executeTakeFirst();
          if (!run && endedBefore !== undefined) return false;
          isKept = kept.isKept(id);
          if (!isKept) await deleteTurns(transaction, id);
          await deleteGrades(transaction, id);
          await transaction.deleteFrom("run_tags").where("run_id", "=", id).execute();
          await deleteKeys(transaction, id);
          if (run?.group_id) await forgetEmptyGroup(transaction, run.group_id);
          return run !== undefined;
        });
      } finally {
        // Also if it failed: a commit that is not confirmed may have taken effect.
        if (isKept) kept.markDeleted(id);
      }
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

async function deleteKeys(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("caller_keys").where("run_id", "=", id).execute();
}

/** A group is its runs; once there are none, the key of its request refers to nothing. */
async function forgetEmptyGroup(db: Kysely<Tables>, groupId: string): Promise<void> {
  const left = await db.selectFrom("runs").select("id").where("group_id", "=", groupId)
    .executeTakeFirst();
  if (!left) await deleteKeys(db, groupId);
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

async function deleteTurns(db: Kysely<Tables>, runId: string): Promise<void> {
  await db.deleteFrom("turns").where("run_id", "=", runId).execute();
}

/** The same, unless the run exists: deleting it may have failed. */
async function deleteTurnsOfDeleted(db: Kysely<Tables>, runId: string): Promise<void> {
  await db.deleteFrom("turns").where("run_id", "=", runId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("runs").select("id").where("id", "=", runId)))
    )
    .execute();
}

/**
 * Deletes the turns and grades of deleted runs, if a process ended before it could. The query steps
 * from run to run in the index and reads no turn.
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

/** Tracks which runs are being read. */
interface KeptRuns {
  keep(runId: string): Disposable;
  isKept(runId: string): boolean;
  /** Marks a run that was deleted while it was read: it is released after its last reader. */
  markDeleted(runId: string): void;
}

/** `release` is called for a run that is marked as deleted and has no reader any more. */
function createKeptRuns(release: (runId: string) => void): KeptRuns {
  const readers = new Map<string, number>();
  const deleted = new Set<string>();

  function leave(runId: string): void {
    const left = readers.get(runId)! - 1;
    if (left > 0) return void readers.set(runId, left);
    readers.delete(runId);
    if (deleted.delete(runId)) release(runId);
  }

  return {
    keep(runId) {
      readers.set(runId, (readers.get(runId) ?? 0) + 1);
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (isHeld) leave(runId);
          isHeld = false;
        },
      };
    },
    isKept: (runId) => readers.has(runId),
    markDeleted(runId) {
      if (readers.has(runId)) deleted.add(runId);
      else release(runId);
    },
  };
}
