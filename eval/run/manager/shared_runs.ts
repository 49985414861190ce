import type { RunStore } from "../../store/store.ts";
import type { ActiveRun } from "./active_run.ts";
import type { RunStatus, StoredRun } from "../../store/runs/run_record.ts";
import type { RunWork } from "./run_ports.ts";

interface SharedRunsOptions {
  sharing: Sharing;
  store: RunStore;
  /** The runs that this process works on. */
  runs: ReadonlyMap<string, ActiveRun>;
  /** True if this process knows the query of a run's endpoint. */
  knowsQuery: (id: string) => boolean;
  /** Called with runs that are open to this process. */
  join: (ids: string[]) => void;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/** The counts of a shared run are read at most this often. */
const REFRESH_MS = 250;
/**
 * For this time a run whose endpoint has a query is left to the process that knows the query: after
 * an outage of the database that process first has to renew its expired reservation.
 */
const LEFT_MS = 10_000;

/** The part of a manager that deals with other processes. */
export function createSharedRuns(
  { sharing, store, runs, knowsQuery, join, now = () => performance.now() }: SharedRunsOptions,
) {
  const reserved = new Set<string>();
  const refreshed = new WeakMap<ActiveRun, number>();
  /** When runs were first seen open that only another process could continue. */
  let openSince = new Map<string, number>();
  let isWatching = false;

  /** The open runs that this process may continue, or has to end. */
  function choose(open: OpenRun[]): string[] {
    const before = openSince;
    openSince = new Map();
    return open.filter(({ id, queryRemoved }) => {
      if (runs.has(id)) return false;
      if (!queryRemoved || knowsQuery(id)) return true;
      const since = before.get(id) ?? now();
      openSince.set(id, since);
      return now() - since >= LEFT_MS;
    }).map(({ id }) => id);
  }

  return {
    /** Begins to follow the runs of other processes. */
    watch(): void {
      if (isWatching) return;
      isWatching = true;
      sharing.watch({
        active: () => [...runs.keys()],
        reserved: () => [...reserved].filter((id) => runs.has(id)),
        join: (open) => join(choose(open)),
        ended: (id, status) => runs.get(id)?.endElsewhere(status ?? "cancelled"),
        changed: (id) => runs.get(id)?.wake(),
      });
    },
    /** True if no other process can or may work on a run. */
    isExclusive: ({ hasQuery }: { hasQuery: boolean }) => sharing.isExclusive || hasQuery,
    /** No other process may work on the run until it is released. */
    reserve: (id: string) => void reserved.add(id),
    release: (id: string) => void reserved.delete(id),
    /** Brings the counts of a run up to date. */
    async refresh(active: ActiveRun): Promise<void> {
      if (now() - (refreshed.get(active) ?? -Infinity) < REFRESH_MS) return;
      refreshed.set(active, now());
      active.sync(await store.tally(active.run.id));
    },
  };
}

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
interface OpenRun {
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
