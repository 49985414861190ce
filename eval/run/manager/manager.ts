import type { RunRecord, StoredRun } from "../../store/runs/run_record.ts";
import type { KnownRun, NewGroup, NewRun, RunStore } from "../../store/store.ts";
import type { ActiveRun } from "./active_run.ts";

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
   * Resumes a stored run after its stored turns. `endpoint` is its address with the query, which is
   * not stored. Throws 503 `overloaded` if too many are running, and 409 if the run was ended or
   * deleted meanwhile.
   */
  resume(run: StoredRun, options?: { endpoint?: string }): Promise<ActiveRun>;
  active(id: string): ActiveRun | undefined;
  /** True if other processes work on the same runs. */
  readonly isShared: boolean;
  /** True if this process, or another one, works on the run or is about to. */
  isRunning(run: Pick<RunRecord, "id" | "status">): boolean;
  /** Resolves at the next news of a run of other processes; `undefined` if there are none. */
  news(id: string): Promise<void> | undefined;
  /** Brings the counts of an active run up to date, if other processes work on it too. */
  refresh(id: string): Promise<void>;
  /** The number of running runs. */
  readonly count: number;
  /** Why a run is not running although it is stored as such: its end could not be stored. */
  faultOf(id: string): string | null;
  /**
   * Queues the runs that an earlier process left unfinished. They wait, and no endpoint is called
   * for them before `resumeUnfinished`.
   */
  queueUnfinished(): Promise<void>;
  /**
   * Resumes these, oldest first, as many as `maxRuns` allows; the others follow as runs end. They
   * need no client. Resolves when the first ones have started.
   */
  resumeUnfinished(): Promise<void>;
  /** Marks these `interrupted` instead. */
  interruptUnfinished(): Promise<void>;
  /** Resolves once a queued run is resumed or dropped; `undefined` if it is not queued. */
  waiting(id: string): Promise<void> | undefined;
  /** Removes a cancelled run from the queue. */
  dropWaiting(id: string): void;
  /**
   * For the end of the process: detached runs start no further turn. Resolves when all runs have
   * ended. Unfinished runs stay `running`, for the next process.
   */
  stop(): Promise<void>;
  /** Ends all runs at once and aborts their calls. They stay `running`, for the next process. */
  abandon(): void;
  readonly isStopping: boolean;
}

/** Ends a run that has not ended; one that has stays as it is. Its finished turns stay stored. */
export async function cancelRun(
  run: Pick<RunRecord, "id" | "status">,
  { store, runs }: { store: RunStore; runs: RunManager },
): Promise<void> {
  const detail = "cancelled by a caller";
  /** False if the run is not running here. */
  async function end(): Promise<boolean> {
    const active = runs.active(run.id);
    active?.cancel(detail);
    await active?.ended;
    return active !== undefined;
  }

  if (await end()) return;
  if (run.status === "running" || run.status === "interrupted") {
    await store.setStatus(run.id, {
      status: "cancelled",
      detail,
      tally: "count",
      from: ["running", "interrupted"],
    });
    runs.dropWaiting(run.id); // after the status is stored, because waiting clients read it then
    await end(); // it may have been resumed meanwhile
  }
}
