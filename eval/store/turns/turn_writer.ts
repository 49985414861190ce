import { setImmediate } from "node:timers/promises";
import type { RecordedTurn } from "../store.ts";
import type { StoredTurn } from "./turn_record.ts";
import type { TurnsTable } from "../schema/schema.ts";
import { readFacets } from "./turn_facets.ts";

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
