import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../schema/schema.ts";
import type { IdempotencyKey, KnownRun } from "../store.ts";

/** How long an idempotency key refers to its run. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Stores the key of a new run or group, or returns what the key already refers to. */
export async function claimKey(
  transaction: Transaction<Tables>,
  idempotency: IdempotencyKey | undefined,
  { id, moment }: { id: string; moment: number },
): Promise<KnownRun | undefined> {
  if (!idempotency) return undefined;
  const { caller, key, bodyHash } = idempotency;
  await transaction.deleteFrom("caller_keys")
    .where("created_at", "<=", moment - KEY_LIFETIME_MS).execute();
  const known = await findKey(transaction, idempotency, moment);
  if (known) return known;
  const { numInsertedOrUpdatedRows } = await transaction.insertInto("caller_keys")
    .values({ caller, idempotency_key: key, body_hash: bodyHash, run_id: id, created_at: moment })
    .onConflict((conflict) => conflict.columns(["caller", "idempotency_key"]).doNothing())
    .executeTakeFirst();
  // Another process stored the key at the same moment; its transaction has ended by now.
  if (numInsertedOrUpdatedRows === 0n) return await findKey(transaction, idempotency, moment);
}

/** Keys without a caller (of earlier versions, or of a service without API keys) match any caller. */
export async function findKey(
  db: Kysely<Tables>,
  { caller, key, bodyHash }: IdempotencyKey,
  moment: number,
): Promise<KnownRun | undefined> {
  const known = await db.selectFrom("caller_keys").selectAll()
    .where("idempotency_key", "=", key)
    .where("caller", "in", [caller, ""])
    .where("created_at", ">", moment - KEY_LIFETIME_MS)
    .orderBy("caller", "desc")
    .executeTakeFirst();
  if (!known) return undefined;
  return { outcome: known.body_hash === bodyHash ? "known" : "mismatch", id: known.run_id };
}
