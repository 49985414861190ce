import { CompiledQuery, type Kysely } from "kysely";
import { readTally } from "../runs/run_reader.ts";
import { ALL_TURN_COLUMNS } from "../runs/run_rows.ts";
import type { Tables, TurnsTable } from "../schema/schema.ts";
import type { InsertTurns, NewTurn } from "./turn_writer.ts";

/** Stores turns and numbers them, in a database that no other process writes. */
interface NumberedInsert {
  /** Must not be called again before it has resolved: the numbers are the order of storing. */
  insert: InsertTurns;
  /** Call it when the run stores no further turn. */
  forget(runId: string): void;
}

export function createNumberedInsert(db: Kysely<Tables>): NumberedInsert {
  /** The newest `seq` by run. */
  const lastSeqs = new Map<string, number>();
  /** One statement per batch size: building it costs more than running it. */
  const statements = new Map<number, string>();

  async function number(turn: NewTurn): Promise<TurnsTable> {
    const last = lastSeqs.get(turn.run_id) ?? (await readTally(db, turn.run_id)).lastSeq;
    const seq = last + 1;
    lastSeqs.set(turn.run_id, seq);
    return { ...turn, seq };
  }

  function statementFor(rows: TurnsTable[]): string {
    let statement = statements.get(rows.length);
    if (statement === undefined) {
      // kysely takes the columns in the order of the first row.
      statement = db.insertInto("turns").values(rows.map(inColumnOrder))
        .onConflict((conflict) => conflict.doNothing()).compile().sql;
      statements.set(rows.length, statement);
    }
    return statement;
  }

  async function isStored({ run_id, scenario, attempt, turn, seq }: TurnsTable): Promise<boolean> {
    const row = await db.selectFrom("turns").select("seq")
      .where("run_id", "=", run_id).where("scenario", "=", scenario)
      .where("attempt", "=", attempt).where("turn", "=", turn)
      .executeTakeFirst();
    return row?.seq === seq;
  }

  return {
    async insert(turns) {
      const rows: TurnsTable[] = [];
      for (const turn of turns) rows.push(await number(turn));
      const parameters = rows.flatMap((row) => ALL_TURN_COLUMNS.map((column) => row[column]));
      const { numAffectedRows } = await db.executeQuery(
        CompiledQuery.raw(statementFor(rows), parameters),
      );
      if (numAffectedRows === BigInt(rows.length)) return rows.map(() => true);
      return await Promise.all(rows.map(isStored));
    },
    forget: (runId) => void lastSeqs.delete(runId),
  };
}

function inColumnOrder(row: TurnsTable): TurnsTable {
  return Object.fromEntries(ALL_TURN_COLUMNS.map((name) => [name, row[name]])) as never;
}
