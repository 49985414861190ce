import { setImmediate } from "node:timers/promises";
import type { StoredTurn } from "./store.ts";
import type { TurnsTable } from "./schema.ts";

/** How many rows one statement stores: databases limit the parameters of one. */
const MAX_BATCH = 200;

export interface TurnWriter {
  /** Resolves once the turn is on the disk. */
  write(runId: string, turn: StoredTurn): Promise<void>;
  /** Says that no turn of the run is under way any more. */
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
 * Group commit: the turns that finish while one commit is under way share the next. Nobody waits
 * for a batch to fill, and a busy service pays for one flush of the disk, not for one a turn.
 * Replies come in bursts, so a commit begins once the event loop has given out all that is there:
 * otherwise the first turn of a burst would go alone, and the others wait for its flush.
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
        known.catch(() => lastSeqs.delete(runId)); // the next turn asks again
      }
      // Numbered and queued in one step: whoever has seen a number has seen all the smaller ones.
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
