import type { Logger } from "../../shared/log.ts";
import type { StoredRun } from "../store/runs/run_record.ts";
import type { Sharing } from "../run/manager/shared_runs.ts";
import { openPostgres } from "../store/postgres/open_postgres.ts";
import { createHeldJobs } from "./held_jobs.ts";
import { type JobCounts, type JobQueue, openJobQueue } from "./job_queue.ts";
import { createPaceBoard } from "./pace_board.ts";
import { createRunWatch } from "./run_watch.ts";
import { createSharedWork } from "./shared_work.ts";

/** What operators want to know about the work that processes share. */
export interface SharedFigures {
  counts(): Promise<JobCounts>;
  /** Conversations that this process took although one had begun them before. */
  readonly retried: number;
  /** Those of them that another process did not give back. */
  readonly takenOver: number;
  /** Milliseconds since the queue last confirmed what this process has. */
  readonly silentMs: number;
}

interface OpenSharingOptions {
  /** `EVAL_DATA`: `postgres://…`. */
  address: string;
  maxConnections: number;
  log: Logger;
  /** True for the command line: its runs are its own, and it joins no other. */
  isExclusive: boolean;
}

const SWEEP_MS = 5 * 60_000;
/** The least time between two log lines: many connections are lost together. */
const LOG_MS = 10_000;

/** The store on PostgreSQL, and the handing-out of conversations to the processes that use it. */
export async function openSharing(options: OpenSharingOptions) {
  const { address, maxConnections, log, isExclusive } = options;
  const onError = sometimes((error) => log.warn("the database is not available", { error }));
  let queues: JobQueue | undefined;
  const { store, news, pool } = await openPostgres({
    address,
    maxConnections,
    onError,
    createWorkList: async (pool) => queues = await openJobQueue(pool, { onError }),
  });
  const held = createHeldJobs(queues!, {
    onLost(conversations, { isSilent }) {
      const message = isSilent
        ? "conversations given up: the queue did not confirm them in time; other processes may have them"
        : "conversations were taken over by another process";
      log.warn(message, { conversations });
    },
  });
  const watch = createRunWatch({ store, news, log, joins: !isExclusive });
  const board = createPaceBoard(pool);
  const tallies = { retried: 0, takenOver: 0 };
  const sweep = async () => await queues!.sweep(await store.usedQueues());
  const sweeper = setInterval(() => sweep().catch(() => {}), SWEEP_MS);

  async function listAgain(run: StoredRun): Promise<boolean> {
    const isAdded = await store.listAgain(run);
    if (isAdded) {
      log.warn("conversations were missing in the queue, and are listed again", { run_id: run.id });
    }
    return isAdded;
  }

  return {
    pool,
    /** The limits of endpoints that answered 429 to any process. */
    board,
    /** Closing it closes everything. */
    store: {
      ...store,
      async close() {
        clearInterval(sweeper);
        watch.stop();
        board.stop();
        await held.close();
        await queues!.close();
        await store.close();
      },
    },
    sharing: {
      isExclusive,
      watch: watch.watch,
      news: watch.news,
      stop: watch.stop,
      async openWork(run, { concurrency }) {
        const { id } = run;
        return createSharedWork({ queues: queues!, held }, {
          queue: await store.queueOf(id) ?? `run-${id}-ended`,
          concurrency,
          isOver: () => store.isFinished(id),
          listMore: () => store.listMore(run),
          listAgain: () => listAgain(run),
          news: () => watch.stateNews(id),
          onRetried: ({ isTakenOver }) => {
            tallies.retried++;
            if (isTakenOver) tallies.takenOver++;
          },
        });
      },
    } satisfies Sharing,
    figures: {
      counts: () => queues!.counts(),
      get retried() {
        return tallies.retried;
      },
      get takenOver() {
        return tallies.takenOver;
      },
      get silentMs() {
        return held.silentMs;
      },
    } satisfies SharedFigures,
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
