import { CompiledQuery, type Kysely } from "kysely";
import { createRunReader } from "../runs/run_reader.ts";
import { lockRun } from "./lock_run.ts";
import { asCommon, type PostgresTables } from "./postgres_schema.ts";
import { listUnfinished } from "./unfinished_conversations.ts";
import type { ExecuteSql, WorkList } from "./work_list.ts";

/**
 * Lists again what is left of a running run if its queue has nothing of it: the queues were not in a
 * restored dump, or were deleted. Returns true if something is left. A conversation leaves its queue
 * after its turns are stored, so none is listed twice.
 */
export async function refillQueue(
  db: Kysely<PostgresTables>,
  { id, work }: { id: string; work: WorkList },
): Promise<boolean> {
  const run = await db.selectFrom("runs").select("queue").where("id", "=", id)
    .where("status", "=", "running").executeTakeFirst();
  const queue = run?.queue;
  if (!queue || !await work.isEmpty(queue, executeIn(db))) return false;
  await work.prepare(queue); // it may be gone, too
  return await db.transaction().execute(async (transaction) => {
    const now = await lockRun(transaction, id);
    const execute = executeIn(transaction);
    if (now?.status !== "running" || now.queue !== queue) return false;
    if (!await work.isEmpty(queue, execute)) return false; // by another process
    const stored = await createRunReader(asCommon(transaction)).getRun(id);
    const left = await listUnfinished(asCommon(transaction), stored!);
    await work.add(queue, left, execute);
    return left.length > 0;
  });
}

/** Runs statements of the queue in a transaction of the store. */
export function executeIn(db: Kysely<PostgresTables>): ExecuteSql {
  return async (text, values = []) => await db.executeQuery(CompiledQuery.raw(text, [...values]));
}
