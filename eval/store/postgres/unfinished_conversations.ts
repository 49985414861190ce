import type { Kysely } from "kysely";
import { listConversations, planOf, turnsOf } from "../../schemas/conversations.ts";
import type { Tables } from "../schema/schema.ts";
import type { StoredRun } from "../runs/run_record.ts";
import type { ListedConversation } from "./work_list.ts";

/** The conversations of a run that are not stored as a whole, in the order of the batch. */
export async function listUnfinished(
  db: Kysely<Tables>,
  { id, request }: Pick<StoredRun, "id" | "request">,
): Promise<ListedConversation[]> {
  const rows = await db.selectFrom("turns")
    .select(({ fn }) => ["scenario", "attempt", fn.countAll().as("turns")])
    .where("run_id", "=", id)
    .groupBy(["scenario", "attempt"])
    .execute();
  const replies = await db.selectFrom("pending_replies").select(["scenario", "attempt"])
    .where("run_id", "=", id).execute();
  const stored = new Map(rows.map((row) => [`${row.scenario}/${row.attempt}`, Number(row.turns)]));
  const replied = new Set(replies.map((row) => `${row.scenario}/${row.attempt}`));
  const left: ListedConversation[] = [];
  const plan = planOf(request);
  for (const position of listConversations(plan)) {
    const place = `${position.scenario}/${position.attempt}`;
    const turns = stored.get(place) ?? 0;
    if (turns === turnsOf(plan, position)) continue;
    left.push({ ...position, isContinued: turns > 0 || replied.has(place) });
  }
  return left;
}
