import type { Kysely } from "kysely";
import type { Tables } from "../schema/schema.ts";

/** What branches and releases are called. */
export const TAG = /^[\w][\w./-]{0,99}$/;

/** The run that a tag names. */
export async function findTag(db: Kysely<Tables>, name: string): Promise<string | undefined> {
  const row = await db.selectFrom("run_tags").select("run_id").where("name", "=", name)
    .executeTakeFirst();
  return row?.run_id;
}

/** Lets a tag name a run; a tag names one run at a time. */
export async function setTag(db: Kysely<Tables>, name: string, run_id: string): Promise<void> {
  await db.insertInto("run_tags").values({ name, run_id })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ run_id })).execute();
}

/** The tags of some runs, by the run's id; without those that have none. */
export async function readTags(
  db: Kysely<Tables>,
  ids: string[],
): Promise<Map<string, string[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("run_tags").selectAll().where("run_id", "in", ids)
    .orderBy("name").execute();
  const groups = Map.groupBy(rows, ({ run_id }) => run_id);
  return new Map([...groups].map(([id, tags]) => [id, tags.map(({ name }) => name)]));
}

/** Gives a run a name and exactly these tags, as far as they are set. */
export async function describeRun(
  db: Kysely<Tables>,
  id: string,
  { testName, tags }: { testName?: string | undefined; tags?: string[] | undefined },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    if (testName !== undefined) {
      await transaction.updateTable("runs").set({ test_name: testName }).where("id", "=", id)
        .execute();
    }
    if (!tags) return;
    await transaction.deleteFrom("run_tags").where("run_id", "=", id).execute();
    for (const name of tags) await setTag(transaction, name, id);
  });
}
