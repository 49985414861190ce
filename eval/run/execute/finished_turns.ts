import { type RunPlan, turnsOf } from "../../schemas/conversations.ts";
import type { EarlierReply, Finished } from "../manager/run_ports.ts";
import type { AttemptPosition } from "../../store/turns/position.ts";
import type { RunStore } from "../../store/store.ts";
import type { PendingReply } from "../../store/turns/turn_record.ts";
import type { Suspects } from "../manager/resumption/suspects.ts";

/** How often scoring a reply may crash the process before the reply is given up. */
export const MAX_TRIES = 3;

interface FinishedOptions {
  id: string;
  plan: RunPlan;
  suspects: Suspects;
}

/**
 * What is stored of a run, for the runner to continue from. Only counts are held in memory: turns
 * are read when the runner reaches their attempt, and those of finished attempts are never read.
 */
export async function readFinished(
  store: RunStore,
  { id, plan, suspects }: FinishedOptions,
): Promise<Finished> {
  const counts = new Map<string, number>();
  for (const { turns, ...position } of await store.attemptCounts(id)) {
    counts.set(nameOf(position), turns);
  }
  const countOf = (position: AttemptPosition) => counts.get(nameOf(position)) ?? 0;
  const withReplies = new Set((await store.pendingPositions(id)).map(nameOf));

  const stored = createStoredParts(store, { id, suspects });
  return {
    isWhole: (position) => countOf(position) === turnsOf(plan, position),
    async turns(position) {
      return countOf(position) === 0 ? new Map() : await stored.turns(position);
    },
    async replies(position) {
      return withReplies.has(nameOf(position)) ? await stored.replies(position) : new Map();
    },
  };
}

/**
 * What is stored of the conversations of a run, read each time: other processes store turns too.
 * Whoever hands out conversations knows which are whole.
 */
export function createStoredParts(
  store: RunStore,
  { id, suspects }: Omit<FinishedOptions, "plan">,
): Finished {
  /**
   * A reply that was being scored when a process crashed may be the cause. After a second crash such
   * replies are scored one by one, so that the others are not given up together with it.
   */
  function toEarlier(
    { scenario, attempt, turn, tries, latencyMs, fromRun, ...reply }: PendingReply,
  ) {
    const position = { scenario, attempt, turn };
    const assess = async <T>(work: () => Promise<T>) => {
      await store.countTry(id, position);
      return await work();
    };
    const earlier: EarlierReply = {
      reply,
      latencyMs,
      ...(fromRun !== undefined && { fromRun }),
      attempt(work) {
        if (tries >= MAX_TRIES) return undefined;
        return tries === 0 ? assess(work) : suspects.score(tries, () => assess(work));
      },
    };
    return [turn, earlier] as const;
  }

  return {
    isWhole: () => false,
    async turns(position) {
      const turns = await store.attemptTurns(id, position);
      return new Map(turns.map(({ turn, result }) => [turn, result]));
    },
    async replies(position) {
      return new Map((await store.pendingReplies(id, position)).map(toEarlier));
    },
  };
}

function nameOf({ scenario, attempt }: AttemptPosition): string {
  return `${scenario}/${attempt}`;
}
