import type { RunRecord, Tally } from "./run_record.ts";
import type { RunReader } from "./store.ts";
import type { StoredTurn, TurnText } from "./turn_record.ts";

/** The part of a store that results are made from. */
export interface TurnReader extends Pick<RunReader, "turns" | "tally"> {
  turnPages(runId: string): AsyncIterable<TurnText[]>;
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
 * deleted or resumed while it was read, or the database is damaged. An incomplete result must not
 * look complete, so every answer and every export uses this.
 */
export function createWholeReader(
  reader: TurnReader,
  run: Pick<RunRecord, "id" | "status" | "totalTurns" | "tally">,
): TurnReader {
  let known: Promise<Tally> | undefined;
  const tally = () => known ??= readTally();

  async function readTally(): Promise<Tally> {
    const tally = await reader.tally(run.id);
    const expected = run.status === "completed" ? run.totalTurns : run.tally?.done ?? tally.done;
    requireWhole(run.id, { read: tally.done, expected });
    return tally;
  }

  return {
    tally,
    async *turns() {
      const { done: expected } = await tally();
      let read = 0;
      for await (const turn of reader.turns(run.id)) {
        read++;
        yield turn;
      }
      requireWhole(run.id, { read, expected });
    },
    async *turnPages() {
      const { done: expected } = await tally();
      let read = 0;
      for await (const page of reader.turnPages(run.id)) {
        read += page.length;
        yield page;
      }
      requireWhole(run.id, { read, expected });
    },
  };
}

/** All turns of a run that is not running, and those that there are of one that is. */
export function turnsSoFar(
  reader: TurnReader,
  run: Pick<RunRecord, "id" | "status" | "totalTurns" | "tally">,
): AsyncIterable<StoredTurn> {
  return (run.status === "running" ? reader : createWholeReader(reader, run)).turns(run.id);
}

/** The same pieces; the turns of the run can be read until the last one. */
export async function* whileKept<T>(
  reader: Pick<RunReader, "keep">,
  runId: string,
  pieces: AsyncIterable<T>,
): AsyncGenerator<T> {
  using _kept = reader.keep(runId);
  yield* pieces;
}
