import { setImmediate } from "node:timers/promises";
import type { StoredTurn } from "./store.ts";
import type { TurnsTable } from "./schema.ts";

/** Rows per statement: databases limit the parameters of a statement. */
const MAX_BATCH = 200;

export interface TurnWriter {
  /** Resolves once the turn is on the disk. */
  write(runId: string, turn: StoredTurn): Promise<void>;
  /** Call it when the run writes no further turn. */
  forget(runId: string): void;
}

export interface TurnWriterPorts {
  /** Stores all of the rows or none, and resolves once they are on the disk. */
  insert(rows: TurnsTable[]): Promise<void>;
  /** The newest `seq` that the run has. */
  lastSeq(runId: string): Promise<number>;
}

interface Pending {
  row: TurnsTable;
  done: PromiseWithResolvers<void>;
}

/**
 * Group commit: turns that finish during one commit share the next. No turn waits for a batch to
 * fill, and a busy service needs one disk flush per batch instead of one per turn. Replies arrive in
 * bursts, so a commit starts after the event loop has handled all pending events: otherwise the
 * first turn of a burst would be committed alone, and the others would wait for its flush.
 */
export function createTurnWriter({ insert, lastSeq }: TurnWriterPorts): TurnWriter {
  const queue: Pending[] = [];
  const lastSeqs = new Map<string, Promise<{ value: number }>>();
  let isWriting = false;

  async function drain(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (queue.length > 0) {
      await setImmediate();
      const batch = queue.splice(0, MAX_BATCH);
      try {
        await insert(batch.map(({ row }) => row));
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWriting = false;
  }

  return {
    async write(runId, turn) {
      let known = lastSeqs.get(runId);
      if (!known) {
        known = lastSeq(runId).then((value) => ({ value }));
        lastSeqs.set(runId, known);
        known.catch(() => lastSeqs.delete(runId)); // the next turn reads it again
      }
      // Numbered and queued in one step, so that turns are stored in the order of their numbers.
      const seq = ++(await known).value;
      const done = Promise.withResolvers<void>();
      queue.push({ row: toRow(runId, turn, seq), done });
      drain();
      await done.promise;
    },
    forget: (runId) => void lastSeqs.delete(runId),
  };
}

function toRow(runId: string, turn: StoredTurn, seq: number): TurnsTable {
  const { result } = turn;
  return {
    run_id: runId,
    scenario: turn.scenario,
    attempt: turn.attempt,
    turn: turn.turn,
    seq,
    failed: result.error ? 1 : 0,
    missing: result.missing_scores?.overall === undefined ? 0 : 1,
    overall: result.scores.overall ?? null,
    took_ms: turn.tookMs,
    result: JSON.stringify(result),
  };
}
