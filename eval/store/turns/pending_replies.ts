import type { Kysely } from "kysely";
import type { PendingRepliesTable, Tables } from "../schema/schema.ts";
import type { RunStore } from "../store.ts";
import type { PendingReply } from "./turn_record.ts";

/** Reads the replies whose turns are not stored yet. */
export function createPendingReplies(
  db: Kysely<Tables>,
): Pick<RunStore, "pendingPositions" | "pendingReplies" | "countTry"> {
  return {
    async pendingPositions(runId) {
      return await selectPending(db, runId).select(["scenario", "attempt", "turn"]).execute();
    },

    async pendingReplies(runId, { scenario, attempt }) {
      const rows = await selectPending(db, runId).selectAll()
        .where("scenario", "=", scenario)
        .where("attempt", "=", attempt)
        .execute();
      return rows.map(toPendingReply);
    },

    async countTry(runId, { scenario, attempt, turn }) {
      await db.updateTable("pending_replies")
        .set(({ eb }) => ({ tries: eb("tries", "+", 1) }))
        .where("run_id", "=", runId)
        .where("scenario", "=", scenario)
        .where("attempt", "=", attempt)
        .where("turn", "=", turn)
        .execute();
    },
  };
}

export async function deleteReplies(db: Kysely<Tables>, runId: string): Promise<void> {
  await db.deleteFrom("pending_replies").where("run_id", "=", runId).execute();
}

export async function insertReplies(
  db: Kysely<Tables>,
  rows: PendingRepliesTable[],
): Promise<void> {
  await db.insertInto("pending_replies").values(rows)
    .onConflict((conflict) =>
      conflict.columns(["run_id", "scenario", "attempt", "turn"])
        .doUpdateSet({ tries: 0, reply: ({ ref }) => ref("excluded.reply") })
    ).execute();
}

/** The replies of a run whose turns are not stored, in the order of the batch. */
function selectPending(db: Kysely<Tables>, runId: string) {
  return db.selectFrom("pending_replies")
    .where("run_id", "=", runId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(
        selectFrom("turns").select("turns.turn")
          .whereRef("turns.run_id", "=", "pending_replies.run_id")
          .whereRef("turns.scenario", "=", "pending_replies.scenario")
          .whereRef("turns.attempt", "=", "pending_replies.attempt")
          .whereRef("turns.turn", "=", "pending_replies.turn"),
      ))
    )
    .orderBy("scenario").orderBy("attempt").orderBy("turn");
}

function toPendingReply(
  { scenario, attempt, turn, tries, reply }: PendingRepliesTable,
): PendingReply {
  const stored = JSON.parse(reply);
  const { usage, latency_ms: latencyMs, finish_reason: finishReason, reasoning, cost } = stored;
  const fromRun: string | undefined = stored.reply_from_run ?? stored.copied_from_run;
  return {
    ...{ scenario, attempt, turn, tries },
    content: stored.agent_reply ?? stored.content,
    usage,
    latencyMs,
    ...(stored.first_token_ms !== undefined && { firstTokenMs: stored.first_token_ms }),
    ...(finishReason !== undefined && { finishReason }),
    ...(reasoning !== undefined && { reasoning }),
    ...(stored.reply_encoding && { encoding: stored.reply_encoding }),
    ...(stored.tool_calls && { toolCalls: stored.tool_calls }),
    ...(cost !== undefined && { cost }),
    ...(fromRun !== undefined && { fromRun }),
  };
}
