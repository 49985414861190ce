import { setImmediate } from "node:timers/promises";
import type { RecordedTurn } from "./store.ts";
import type { StoredTurn } from "./turn_record.ts";
import type { TurnsTable } from "./schema.ts";
import { readFacets } from "./turn_facets.ts";

/** Rows per statement: databases limit the parameters of a statement. */
const MAX_BATCH = 200;

/** A turn before it has its `seq`. */
export type NewTurn = Omit<TurnsTable, "seq">;

/**
 * Stores all of the turns or none, and resolves once they are on the disk. A turn whose position is
 * taken is not stored; the result says for each whether it was.
 */
export type InsertTurns = (turns: NewTurn[]) => Promise<boolean[]>;

export interface TurnWriter {
  /** Resolves once the turn is on the disk. */
  write(runId: string, turn: StoredTurn): Promise<RecordedTurn>;
}

interface Pending {
  turn: NewTurn;
  done: PromiseWithResolvers<RecordedTurn>;
}

/**
 * Group commit: turns that finish during one commit share the next. No turn waits for a batch to
 * fill, and a busy service needs one disk flush per batch instead of one per turn. Replies arrive in
 * bursts, so a commit starts after the event loop has handled all pending events: otherwise the
 * first turn of a burst would be committed alone, and the others would wait for its flush.
 */
export function createTurnWriter(insert: InsertTurns): TurnWriter {
  const queue: Pending[] = [];
  let isWriting = false;

  async function drain(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (queue.length > 0) {
      await setImmediate();
      const batch = queue.splice(0, MAX_BATCH);
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
