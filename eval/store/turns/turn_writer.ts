import { setImmediate } from "node:timers/promises";
import type { RecordedTurn } from "../store.ts";
import { readFacets, type StoredTurn } from "../turn_record.ts";
import type { Tables, TurnsTable } from "../schema/schema.ts";
import { CompiledQuery, type Kysely } from "kysely";
import { readTally } from "../runs/run_reader.ts";
import { ALL_TURN_COLUMNS } from "../runs/run_rows.ts";

/** Rows per statement: databases limit the parameters of a statement. */
const MAX_BATCH = 200;
/** The minimum interval between commits while several turns come at a time. */
const INTERVAL_MS = 15;
/** With this many waiting turns a commit starts at once. */
const ENOUGH = 8;

/** A turn before it has its `seq`. */
export type NewTurn = Omit<TurnsTable, "seq">;

/**
 * Stores all of the turns or none, and resolves once they are on the disk. A turn whose position is
 * taken is not stored; the result says for each whether it was.
 */
export type InsertTurns = (turns: NewTurn[]) => Promise<boolean[]>;

interface Pending {
  turn: NewTurn;
  done: PromiseWithResolvers<RecordedTurn>;
}

/**
 * Group commit: turns that finish during one commit share the next. Replies arrive in bursts, so a
 * commit starts after the event loop has handled all pending events: otherwise the first turn of a
 * burst would be committed alone, and the others would wait for its flush.
 *
 * A commit takes a millisecond of processor time, whatever it stores. So after a commit of several
 * turns the next one waits for `ENOUGH` of them, for `intervalMs` at most.
 */
export function createTurnWriter(
  insert: InsertTurns,
  { intervalMs = INTERVAL_MS }: { intervalMs?: number } = {},
) {
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
    /** Resolves once the turn is on the disk. */
    write(runId: string, turn: StoredTurn): Promise<RecordedTurn> {
      const done = Promise.withResolvers<RecordedTurn>();
      queue.push({ turn: toNewTurn(runId, turn), done });
      if (queue.length >= ENOUGH) onEnough();
      drain();
      return done.promise;
    },
  };
}

/** A turn as it is stored, without its number. */
export function toNewTurn(runId: string, turn: StoredTurn): NewTurn {
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
export function createNumberedInsert(db: Kysely<Tables>) {
  /** The newest `seq` by run. */
  const lastSeqs = new Map<string, number>();

  async function number(turn: NewTurn): Promise<TurnsTable> {
    const last = lastSeqs.get(turn.run_id) ?? (await readTally(db, turn.run_id)).lastSeq;
    const seq = last + 1;
    lastSeqs.set(turn.run_id, seq);
    return { ...turn, seq };
  }

  return {
    /** Must not be called again before it has resolved: the numbers are the order of storing. */
    async insert(turns: NewTurn[]): Promise<boolean[]> {
      const rows: TurnsTable[] = [];
      for (const turn of turns) rows.push(await number(turn));
      const parameters = rows.flatMap((row) => ALL_TURN_COLUMNS.map((column) => row[column]));
      const { rows: stored } = await db.executeQuery<StoredNumber>(
        CompiledQuery.raw(insertStatement(rows.length), parameters),
      );
      const nameOf = ({ run_id, seq }: StoredNumber) => `${run_id}/${seq}`;
      const names = new Set(stored.map(nameOf));
      return rows.map((row) => names.has(nameOf(row)));
    },
    /** Call it when the run stores no further turn. */
    forget: (runId: string) => void lastSeqs.delete(runId),
  };
}

type StoredNumber = Pick<TurnsTable, "run_id" | "seq">;

const ROW = `(${ALL_TURN_COLUMNS.map(() => "?").join(", ")})`;

/** Written here: kysely takes longer to build it than SQLite to execute it. */
function insertStatement(rows: number): string {
  return `insert into turns (${ALL_TURN_COLUMNS.join(", ")})
    values ${new Array(rows).fill(ROW).join(", ")}
    on conflict do nothing returning run_id, seq`;
}
