import type { Transaction } from "kysely";
import type { PostgresTables } from "./postgres_schema.ts";

/** Until the transaction ends no turn of the run is stored, and no other changes its state. */
export async function lockRun(transaction: Transaction<PostgresTables>, id: string) {
  return await transaction.selectFrom("runs").select(["status", "queue"]).where("id", "=", id)
    .forUpdate().executeTakeFirst();
}
