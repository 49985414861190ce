import { planOf, turnsOf } from "../../test/conversations.ts";
import type { Finished } from "../manager/run_ports.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { AttemptPosition } from "../../store/turn_record.ts";
import type { RunStore } from "../../store/store.ts";

/**
 * What is stored of a run, for the runner to continue from. Only counts are held in memory: turns
 * are read when the runner reaches their attempt, and those of finished attempts are never read.
 */
export async function readFinished(store: RunStore, run: StoredRun): Promise<Finished> {
  const plan = planOf(run.request);
  const counts = new Map<string, number>();
  for (const { turns, ...position } of await store.attemptCounts(run.id)) {
    counts.set(nameOf(position), turns);
  }
  const countOf = (position: AttemptPosition) => counts.get(nameOf(position)) ?? 0;
  const stored = createStoredParts(store, run);
  return {
    ...stored,
    isWhole: (position) => countOf(position) === turnsOf(plan, position.scenario),
    async turns(position) {
      return countOf(position) === 0 ? new Map() : await stored.turns(position);
    },
  };
}

/**
 * What is stored of the conversations of a run, read each time: other processes store turns too.
 * `isWhole` is always false: the queue of a shared run knows which conversations are whole.
 */
export function createStoredParts(store: RunStore, { id }: Pick<StoredRun, "id">): Finished {
  return {
    isWhole: () => false,
    async turns(position) {
      const turns = await store.attemptTurns(id, position);
      return new Map(turns.map(({ turn, result }) => [turn, result]));
    },
  };
}

function nameOf({ scenario, attempt }: AttemptPosition): string {
  return `${scenario}/${attempt}`;
}
