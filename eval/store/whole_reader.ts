import { runNotFound } from "./require_run.ts";
import type { RunRecord, Tally } from "./run_record.ts";
import type { RunReader } from "./store.ts";
import type { StoredTurn } from "./turn_record.ts";

/** The part of a store that results are made from. */
export interface TurnReader extends Pick<RunReader, "turns" | "turnPages" | "tally"> {
  /** Tells a run that was deleted from one that is damaged. */
  getRecord?: RunReader["getRecord"];
}

/** Not all turns of a run could be read. */
export class IncompleteRead extends Error {
  override readonly name = "IncompleteRead";
}

/** Throws `IncompleteRead` unless both numbers of turns are the same. */
export function requireWhole(
  runId: string,
  { read, expected }: { read: number; expected: number },
): void {
  if (read === expected) return;
  throw new IncompleteRead(`run ${runId} should have ${expected} turns, but ${read} were read`);
}

/**
 * Reads a run that is not running, and throws `IncompleteRead` if a turn is missing: the run was
 * resumed while it was read, or the database is damaged; 404 `not_found` if another process has
 * deleted it. An incomplete result must not look complete, so every answer and every export uses this.
 */
export function createWholeReader(
  reader: TurnReader,
  run: Pick<RunRecord, "id" | "status" | "totalTurns" | "tally">,
): TurnReader {
  let known: Promise<Tally> | undefined;
  const tally = () => known ??= readTally();

  async function requireAll(turns: { read: number; expected: number }): Promise<void> {
    try {
      requireWhole(run.id, turns);
    } catch (error) {
      const isDeleted = reader.getRecord && !await reader.getRecord(run.id);
      throw isDeleted ? runNotFound(run.id) : error;
    }
  }

  async function readTally(): Promise<Tally> {
    const tally = await reader.tally(run.id);
    const expected = run.status === "completed" ? run.totalTurns : run.tally?.done ?? tally.done;
    await requireAll({ read: tally.done, expected });
    return tally;
  }

  /** `turnsOf` says how many turns an item is. */
  async function* readAll<T>(items: AsyncIterable<T>, turnsOf: (item: T) => number) {
    const { done: expected } = await tally();
    let read = 0;
    for await (const item of items) {
      read += turnsOf(item);
      yield item;
    }
    await requireAll({ read, expected });
  }

  return {
    tally,
    turns: () => readAll(reader.turns(run.id), () => 1),
    turnPages: () => readAll(reader.turnPages(run.id), (page) => page.length),
  };
}

/** All turns of a run that is not running, and those that there are of one that is. */
export function turnsSoFar(
  reader: TurnReader,
  run: Pick<RunRecord, "id" | "status" | "totalTurns" | "tally">,
): AsyncIterable<StoredTurn> {
  return (run.status === "running" ? reader : createWholeReader(reader, run)).turns(run.id);
}
