import { listConversations, type RunPlan } from "../../schemas/conversations.ts";
import type { AttemptPosition } from "../../store/turns/position.ts";

/** A conversation that this process runs. */
export interface TakenConversation {
  position: AttemptPosition;
  /** True if a part of it may be stored. */
  isContinued: boolean;
  /** Aborted if another process has taken it over; unset if no other process works on the run. */
  signal?: AbortSignal;
  /** Call it when all of its turns are stored. */
  finish(): void;
  /** Call it otherwise: this process or another takes it again. */
  giveBack(): void;
}

/** Hands out the conversations of one run to the workers of this process. */
export interface RunWork {
  /** The next conversation; `undefined` if there is none at this moment. */
  take(): TakenConversation | undefined | Promise<TakenConversation | undefined>;
  /**
   * After `take` had none: waits until there may be one, or until no process has an unfinished
   * one. Rejects if the signal aborts.
   */
  wait(signal: AbortSignal): Promise<"more" | "over">;
  /** Call it when this process works no longer on the run; gives back what was not begun. */
  close(): Promise<void>;
}

/**
 * All conversations of a run, in the order of the batch, for this process alone; without those that
 * an earlier process, or the run that this one retries, has finished.
 */
export function createLocalWork(
  plan: RunPlan,
  finished?: { isWhole: (position: AttemptPosition) => boolean },
): RunWork {
  const queue = listConversations(plan);
  return {
    take() {
      for (let next = queue.next(); !next.done; next = queue.next()) {
        const position = next.value;
        if (finished?.isWhole(position)) continue;
        const isContinued = finished !== undefined;
        return { position, isContinued, finish: () => {}, giveBack: () => {} };
      }
      return undefined;
    },
    wait: () => Promise.resolve("over"),
    close: () => Promise.resolve(),
  };
}
