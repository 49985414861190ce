import type { RunStatus, StoredRun } from "../../store/runs/run_record.ts";
import type { RunWork } from "./work.ts";

/** What a manager needs if other processes work on the same runs. */
export interface Sharing {
  /** The conversations of a run. */
  openWork(run: StoredRun, options: { concurrency: number }): Promise<RunWork>;
  /** Calls the watcher about news of runs until `stop`. */
  watch(watcher: RunWatcher): void;
  /** Resolves when something has changed in a run, after a second at the latest. */
  news(runId: string): Promise<void>;
  /** True if other processes must not work on the runs that are started here. */
  readonly isExclusive: boolean;
  stop(): void;
}

/** A running run that no process has reserved. */
export interface OpenRun {
  id: string;
  /** True if its endpoint has a query: only the process that knows it can work on the run. */
  queryRemoved: boolean;
}

/** A manager, as the watch over shared runs sees it. */
export interface RunWatcher {
  /** The runs that this process works on. */
  active(): string[];
  /** Those of them that no other process may work on. */
  reserved(): string[];
  /** All runs that are open to this process. */
  join(runs: OpenRun[]): void;
  /** Another process has ended the run; `undefined` if it was deleted. */
  ended(id: string, status: RunStatus | undefined): void;
  /** Something about the run is new. */
  changed(id: string): void;
}
