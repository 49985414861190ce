import type { AttemptPosition } from "../turns/position.ts";

/** Runs a statement in the store, or in one of its transactions. */
export type ExecuteSql = (
  text: string,
  values?: readonly unknown[],
) => Promise<{ rows: unknown[] }>;

/** A conversation that is not finished. */
export interface ListedConversation extends AttemptPosition {
  /** True if a part of it may be stored. */
  isContinued: boolean;
  /** How many places of the run's plan come after it. */
  left: number;
}

/** The conversations that wait for a process, one queue per run. */
export interface WorkList {
  /** Makes an empty queue, unless there is one; before the transaction that fills it. */
  prepare(queue: string): Promise<void>;
  /** Adds conversations in the transaction of `execute`, so that both exist or neither does. */
  add(queue: string, conversations: ListedConversation[], execute: ExecuteSql): Promise<void>;
  /** True if a queue has no conversation, also none that a process has taken. */
  isEmpty(queue: string, execute: ExecuteSql): Promise<boolean>;
  /** To be called after that transaction. */
  added(): void;
  /** Deletes a queue with all that is in it. */
  drop(queue: string): Promise<void>;
}
