import type { Logger } from "../../../shared/service/log.ts";
import type { RunWatcher } from "../manager/shared_runs.ts";
import type { SharedStore } from "../../store/shared_store.ts";
import type { RunNews } from "../../store/run_news.ts";

/** How often the tables are read if no news comes: news may be lost. */
const LOOK_MS = 1_000;
/** News come in bursts; the tables are read at most this often. */
const LEAST_MS = 100;

interface RunWatchDeps {
  store: Pick<SharedStore, "statuses">;
  news: RunNews;
  log: Logger;
}

/** Looks in the tables which runs have ended, once per second and soon after news of a state. */
export function createRunWatch({ store, news, log }: RunWatchDeps) {
  const waiting = createWaiting();
  let watcher: RunWatcher | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lookedAt = -Infinity;
  let isLooking = false;
  let isFailing = false;
  let isStopped = false;

  function schedule(ms: number): void {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(look, ms);
  }

  async function look(): Promise<void> {
    if (isLooking || !watcher) return;
    isLooking = true;
    lookedAt = performance.now();
    try {
      await lookOnce(watcher);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn("cannot read the runs of other processes", { error });
      isFailing = true;
    } finally {
      isLooking = false;
      schedule(LOOK_MS);
    }
  }

  async function lookOnce(watcher: RunWatcher): Promise<void> {
    const active = watcher.active();
    const statuses = await store.statuses(active);
    for (const id of active) {
      const status = statuses.get(id);
      if (status !== "running") watcher.ended(id, status);
    }
  }

  return {
    watch(added: RunWatcher): void {
      watcher = added;
      news.listen((runId, kind) => {
        if (isStopped) return;
        waiting.wake(runId);
        for (const id of runId === undefined ? added.active() : [runId]) added.changed(id);
        if (kind === "turns") return;
        schedule(Math.max(0, lookedAt + LEAST_MS - performance.now()));
      });
      look();
    },
    /** Resolves at the next news of a run, at the latest after a second. */
    news: waiting.next,
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
      waiting.wake();
    },
  };
}

/** Promises that wait for news, by run. */
function createWaiting() {
  type Waiting = PromiseWithResolvers<void> & { timer: ReturnType<typeof setTimeout> };
  const waiting = new Map<string, Waiting>();

  /** Of all runs if none is named. */
  function wake(runId?: string): void {
    for (const id of runId === undefined ? [...waiting.keys()] : [runId]) {
      const known = waiting.get(id);
      waiting.delete(id);
      clearTimeout(known?.timer);
      known?.resolve();
    }
  }

  return {
    wake,
    next(runId: string): Promise<void> {
      const known = waiting.get(runId);
      if (known) return known.promise;
      const timer = setTimeout(() => wake(runId), LOOK_MS);
      const next = { ...Promise.withResolvers<void>(), timer };
      waiting.set(runId, next);
      return next.promise;
    },
  };
}
