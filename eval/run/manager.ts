import type { RunRecord, StoredRun } from "../store/run_record.ts";
import type { KnownRun, NewGroup, NewRun } from "../store/store.ts";
import type { ActiveRun, RunEnd } from "./active_run.ts";

/** `known` and `mismatch` are as in `CreatedRun`. */
export type StartedRun = { outcome: "started"; active: ActiveRun } | KnownRun;

/** The same for a group; `id` is the group's. */
type StartedGroup = { outcome: "started"; id: string; active: ActiveRun[] } | KnownRun;

/** Starts runs, knows the running ones, and stores their turns and how they end. */
export interface RunManager {
  /**
   * Stores a run and starts it; a key that was used before starts nothing. Throws 503 `overloaded`
   * if too many are running.
   */
  start(run: NewRun): Promise<StartedRun>;
  /** Stores the runs of a group and starts all of them, or none. Throws as `start` does. */
  startGroup(group: NewGroup): Promise<StartedGroup>;
  /**
   * Resumes a stored run after its stored turns. Throws 503 `overloaded` if too many are running,
   * and 409 if the run was ended or deleted meanwhile.
   */
  resume(run: StoredRun): Promise<ActiveRun>;
  /**
   * Waits until a run ends, wherever it is running. Rejects at once if the client leaves; the run
   * goes on. While this process stops, the run may still be `running`, for the next process.
   */
  end(id: string, client: AbortSignal): Promise<RunEnd>;
  /** Ends a run that has not ended; one that has stays as it is. Its finished turns stay stored. */
  cancel(run: Pick<RunRecord, "id" | "status">): Promise<void>;
  /**
   * Lets the calls that this process makes for a run end and starts no further one; it can be
   * resumed. Throws 409 if the run is not running here.
   */
  interrupt(id: string): void;
  active(id: string): ActiveRun | undefined;
  /** True if other processes work on the same runs. */
  readonly isShared: boolean;
  /** True if this process, or another one, works on the run or is about to. */
  isRunning(run: Pick<RunRecord, "id" | "status">): boolean;
  /** `next` resolves at the next news of a run; `undefined` if it is not running. */
  changes(id: string): Promise<{ next: Promise<void> } | undefined>;
  /** Brings the counts of an active run up to date, if other processes work on it too. */
  refresh(id: string): Promise<void>;
  /** The number of running runs. */
  readonly count: number;
  /** Why a run is not running although it is stored as such: its end could not be stored. */
  faultOf(id: string): string | null;
  /** True if the run waits until `maxRuns` allows it. */
  isQueued(id: string): boolean;
  /**
   * Queues the runs that an earlier process left unfinished. They wait, and no endpoint is called
   * for them before `resumeUnfinished`.
   */
  queueUnfinished(): Promise<void>;
  /** Resumes these, oldest first, as many as `maxRuns` allows; the others follow as runs end. */
  resumeUnfinished(): Promise<void>;
  /** Marks these `interrupted` instead. */
  interruptUnfinished(): Promise<void>;
  /**
   * For the end of the process: runs start no further turn, unless a client waits for their end.
   * Resolves when all have ended. Unfinished runs stay `running`, for the next process.
   */
  stop(): Promise<void>;
  /** Ends all runs at once and aborts their calls. They stay `running`, for the next process. */
  abandon(): void;
  readonly isStopping: boolean;
}
