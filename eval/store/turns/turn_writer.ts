import { setImmediate } from "node:timers/promises";
import type { RecordedTurn } from "../store.ts";
import { readFacets, type StoredTurn } from "./turn_record.ts";
import type { Tables, TurnsTable } from "../schema/schema.ts";
import { CompiledQuery, type Kysely } from "kysely";
import { readTally } from "../runs/run_reader.ts";
import { ALL_TURN_COLUMNS } from "../runs/run_rows.ts";

/** Rows per statement: databases limit the parameters of a statement. */
const MAX_BATCH = 200;
/** The minimum interval between commits while several turns come at a time. */
const INTERVAL_MS = 15;
/** With so many waiting turns a commit starts at once. */
const ENOUGH = 8;

/** A turn before it has its `seq`. */
export type NewTurn = Omit<TurnsTable, "seq">;

/**
 * Stores all of the turns or none, and resolves once they are on the disk. A turn whose position is
 * taken is not stored; the result says for each whether it was.
 */
export type InsertTurns = (turns: NewTurn[]) => Promise<boolean[]>;

interface TurnWriter {
  /** Resolves once the turn is on the disk. */
  write(runId: string, turn: StoredTurn): Promise<RecordedTurn>;
}

interface Pending {
  turn: NewTurn;
  done: PromiseWithResolvers<RecordedTurn>;
}

/**
 * Group commit: turns that finish during one commit share the next. Replies arrive in bursts, so a
 * commit starts after the event loop has handled all pending events: otherwise the first turn of a
 * burst would be committed alone, and the others would wait for its flush.
 *
 * A commit takes a millisecond of processor time, whatever it stores. So after one of several turns
 * the next waits until enough of them are there, for `intervalMs` at most.
 */
export function createTurnWriter(
  insert: InsertTurns,
  { intervalMs = INTERVAL_MS }: { intervalMs?: number } = {},
): TurnWriter {
  const queue: Pending[] = [];
  let isWriting = false;
  let last = { size: 0, nextAt: 0 };
  let onEnough = () => {};

  async function gather(): Promise<void> {
    await setImmediate();
    const waitMs = last.size > 1 ? last.nextAt - performance.now() : 0;
    if (waitMs <= 0 || queue.length >= ENOUGH) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      onEnough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function drain(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (queue.length > 0) {
      await gather();
      const batch = queue.splice(0, MAX_BATCH);
      last = { size: batch.length, nextAt: performance.now() + intervalMs };
      try {
        const stored = await insert(batch.map(({ turn }) => turn));
        batch.forEach(({ done }, index) => done.resolve(stored[index] ? "stored" : "taken"));
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWriting = false;
  }

  return {
    write(runId, turn) {
      const done = Promise.withResolvers<RecordedTurn>();
      queue.push({ turn: toNewTurn(runId, turn), done });
      if (queue.length >= ENOUGH) onEnough();
      drain();
      return done.promise;
    },
  };
}

function toNewTurn(runId: string, turn: StoredTurn): NewTurn {
  const { result } = turn;
  return {
    run_id: runId,
    scenario: turn.scenario,
    attempt: turn.attempt,
    turn: turn.turn,
    failed: result.error ? 1 : 0,
    missing: result.missing_scores?.overall === undefined ? 0 : 1,
    overall: result.scores.overall ?? null,
    took_ms: turn.tookMs,
    result: JSON.stringify(result),
    facets: JSON.stringify(readFacets(result)),
  };
}

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
