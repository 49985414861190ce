import { sql, type Transaction } from "kysely";
import { ALL_TURN_COLUMNS } from "../runs/run_rows.ts";
import type { Tables } from "../schema/schema.ts";

/**
 * Copies the parent's turns up to the first failed one of each attempt. Later turns were asked
 * without the failed one in their history, so they do not fit the new conversation. A turn whose
 * `overall` is missing is not copied: its reply is read from the parent and scored again. Each says
 * where it was asked: the new run has not paid for it.
 */
export async function copyAnswered(
  transaction: Transaction<Tables>,
  parentId: string,
  id: string,
): Promise<void> {
  const [, ...columns] = ALL_TURN_COLUMNS;
  const kept = transaction.selectFrom("turns")
    .leftJoin(
      (failures) =>
        failures.selectFrom("turns as failed_turns")
          .select(({ fn }) => ["scenario", "attempt", fn.min("turn").as("first")])
          .where("run_id", "=", parentId)
          .where("failed", "=", 1)
          .groupBy(["scenario", "attempt"])
          .as("failures"),
      (join) =>
        join.onRef("failures.scenario", "=", "turns.scenario")
          .onRef("failures.attempt", "=", "turns.attempt"),
    )
    .select(({ val }) => [val(id).as("run_id")])
    .where("turns.run_id", "=", parentId)
    .where("turns.missing", "=", 0)
    .where((where) =>
      where.or([
        where("failures.first", "is", null),
        where("turns.turn", "<", where.ref("failures.first")),
      ])
    )
    .select(
      columns.map((column) =>
        column === "result" ? marked(parentId).as("result") : `turns.${column}` as const
      ),
    );
  await transaction.insertInto("turns").columns(ALL_TURN_COLUMNS).expression(kept).execute();
}

/** A turn's result with `copied_from_run`; one that the parent had copied too keeps its own. */
function marked(parentId: string) {
  const member = `{"copied_from_run":${JSON.stringify(parentId)},`;
  return sql<string>`case when turns.result like '{"copied_from_run":%' then turns.result
    else cast(${member} as text) || substr(turns.result, 2) end`;
}
