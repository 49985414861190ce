import type { Kysely } from "kysely";
import type { Tables } from "../schema/schema.ts";
import type { RunStore } from "../store.ts";

/** A check of the disk writes about as much as a turn does. */
const PADDING = "-".repeat(4096);

/** What the store keeps about the service itself. */
export function createServiceState(
  db: Kysely<Tables>,
  { now }: { now: () => number },
): Pick<RunStore, "checkWrite" | "trustedMoment" | "trustMoment"> {
  async function get(name: string): Promise<string | undefined> {
    const row = await db.selectFrom("service_state").select("value").where("name", "=", name)
      .executeTakeFirst();
    return row?.value;
  }

  async function set(name: string, value: string): Promise<void> {
    await db.insertInto("service_state").values({ name, value })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value })).execute();
  }

  return {
    checkWrite: () => set("written", `${now()} ${PADDING}`),

    async trustedMoment() {
      const trusted = await get("trusted_moment");
      if (trusted !== undefined) return Number(trusted);
      const { newest } = await db.selectFrom("runs")
        .select(({ fn }) => fn.max(fn.coalesce("finished_at", "created_at")).as("newest"))
        .executeTakeFirstOrThrow();
      return newest === null ? null : Number(newest);
    },

    trustMoment: (moment) => set("trusted_moment", String(moment)),
  };
}
