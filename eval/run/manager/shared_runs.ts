import type { RunStore } from "../../store/store.ts";
import type { ActiveRun } from "../active_run.ts";
import type { RunStatus, StoredRun } from "../../store/run_record.ts";
import type { RunWork } from "./run_ports.ts";

interface SharedRunsOptions {
  sharing: Sharing;
  store: RunStore;
  active: (id: string) => ActiveRun | undefined;
  /** The runs of this process. */
  ids: () => string[];
  /** Called with runs of which this process has got a conversation. */
  join: (id: string) => void;
}

/** The counts of a shared run are read at most this often. */
const REFRESH_MS = 250;

/** The part of a manager that deals with other processes. */
export function createSharedRuns({ sharing, store, active, ids, join }: SharedRunsOptions) {
  const refreshed = new WeakMap<ActiveRun, number>();
  let isWatching = false;

  return {
    /** Begins to follow the runs of other processes. */
    watch(): void {
      if (isWatching) return;
      isWatching = true;
      sharing.watch({
        active: ids,
        join,
        ended: (id, status = "cancelled") => active(id)?.stop({ status }),
        changed: (id) => active(id)?.wake(),
      });
    },
    /** Brings the counts of a run up to date. */
    async refresh(active: ActiveRun): Promise<void> {
      const now = performance.now();
      if (now - (refreshed.get(active) ?? -Infinity) < REFRESH_MS) return;
      refreshed.set(active, now);
      active.sync(await store.tally(active.run.id));
    },
  };
}

/** What a manager needs if other processes work on the same runs. */
export interface Sharing {
  /** The conversations of a run that come to this process. */
  openWork(run: StoredRun): Promise<RunWork>;
  /** This process works no longer on the run. */
  leave(runId: string): void;
  /** Takes conversations, and calls the watcher about news of runs, until `pause` and `stop`. */
  watch(watcher: RunWatcher): void;
  /** Resolves when something has changed in a run, after a second at the latest. */
  news(runId: string): Promise<void>;
  /** Takes no more conversations, and gives back those that were not begun. */
  pause(): Promise<void>;
  stop(): void;
}

/** A manager, as the watch over shared runs sees it. */
export interface RunWatcher {
  /** The runs that this process works on. */
  active(): string[];
  /** This process has got a conversation of the run. */
  join(id: string): void;
  /** Another process has ended the run; `undefined` if it was deleted. */
  ended(id: string, status: RunStatus | undefined): void;
  /** Something about the run is new. */
  changed(id: string): void;
}
