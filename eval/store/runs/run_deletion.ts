import type { ExpressionBuilder, Kysely } from "kysely";
import type { Tables } from "../schema/schema.ts";
import type { RunStore } from "../store.ts";

/** Deletes runs with their turns, grades, tags and keys. */
export function createRunDeletion(
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
