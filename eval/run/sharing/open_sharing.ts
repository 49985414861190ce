import type { Logger } from "../../../shared/service/log.ts";
import type { Sharing } from "../manager/shared_runs.ts";
import { openPostgres } from "../../store/open_postgres.ts";
import { type Jobs, openJobs } from "./jobs.ts";
import { createPaceBoard } from "./pace_board.ts";
import { createRunWatch } from "./run_watch.ts";

/** What operators want to know about the work that processes share. */
export type SharedFigures = Pick<Jobs, "counts" | "retried">;

interface OpenSharingOptions {
  /** `EVAL_DATA`: `postgres://…`. */
  address: string;
  maxConnections: number;
  /** Conversations that this process may have at once. */
  concurrency: number;
  log: Logger;
  /** True for the command line: its runs are its own, and it joins no other. */
  isExclusive: boolean;
}

/** The least time between two log lines: many connections are lost together. */
const LOG_MS = 10_000;

/** The store on PostgreSQL, and the handing-out of conversations to the processes that use it. */
export async function openSharing(options: OpenSharingOptions) {
  const { address, maxConnections, concurrency, log, isExclusive } = options;
  const onError = sometimes((error) => log.warn("the database is not available", { error }));
  let jobs!: Jobs;
  const { store, news, pool } = await openPostgres({
    address,
    maxConnections,
    onError,
    async openJobs(pool) {
      jobs = await openJobs(pool, { concurrency, isExclusive, onError });
      return jobs.list;
    },
  });
  const watch = createRunWatch({ store, news, log });
  const board = createPaceBoard(pool);

  return {
    pool,
    /** The limits of endpoints that answered 429 to any process. */
    board,
    /** Closing it closes everything. */
    store: {
      ...store,
      async close() {
        watch.stop();
        board.stop();
        await jobs.close();
        await store.close();
      },
    },
    sharing: {
      watch(watcher) {
        watch.watch(watcher);
        news.listen((_runId, kind) => kind === "state" && jobs.wake());
        jobs.work(store, watcher.join).catch(onError);
      },
      news: watch.news,
      stop: watch.stop,
      openWork: (run) => jobs.open(store, run),
      leave: jobs.leave,
      pause: jobs.pause,
    } satisfies Sharing,
    figures: jobs as SharedFigures,
  };
}

/** Calls `work` at most once per `LOG_MS`. */
function sometimes(work: (error: unknown) => void): (error: unknown) => void {
  let last = -Infinity;
  return (error) => {
    if (performance.now() - last < LOG_MS) return;
    last = performance.now();
    work(error);
  };
}
