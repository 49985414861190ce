import type { RunReader, RunRecord, Tally } from "./store.ts";

/** The part of a store that results are made from. */
export type TurnReader = Pick<RunReader, "turns" | "turnPages" | "tally">;

/** What was read of a run is not what is known to be stored of it. */
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
 * Reads a run that rests, and throws `IncompleteRead` if a turn is missing: the run was deleted or
 * went on while it was read, or the database is damaged. Half a result must not look like a whole
 * one, so every answer and every export is made with this.
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

/** The pieces of a text made from a run, which keeps its turns until the last of them. */
export async function* whileKept<T>(
  reader: Pick<RunReader, "keep">,
  runId: string,
  pieces: AsyncIterable<T>,
): AsyncGenerator<T> {
  using _kept = reader.keep(runId);
  yield* pieces;
}
