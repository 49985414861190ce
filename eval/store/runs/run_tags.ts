import type { Kysely } from "kysely";
import type { Tables } from "../schema/schema.ts";

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
