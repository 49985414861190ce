import type { Job } from "pg-boss";
import { untilAbort } from "../../../shared/service/waiting.ts";
import type { PostgresPool } from "../../../shared/service/postgres/pool.ts";
import { createLocalWork } from "../execute/runner.ts";
import { readFinished } from "../execute/finished_turns.ts";
import type { RunWork, TakenConversation } from "../manager/run_ports.ts";
import { planOf } from "../../test/conversations.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { JobList, SharedStore } from "../../store/shared_store.ts";
import type { AttemptPosition } from "../../store/turn_record.ts";

/**
 * A job of pg-boss: a conversation of a run, or with `from` the task to list those that are left of
 * it from that place on. The jobs of the command line have neither.
 */
interface JobData extends Partial<AttemptPosition> {
  run: string;
  from?: number;
  /** True if a part of the conversation may be stored. */
  isContinued?: boolean;
}

/** After this time without a sign of life a job is given to another process. */
const HEARTBEAT_SECONDS = 10;
/** How often overdue jobs are looked for, and how many are waiting. */
const MONITOR_SECONDS = 2;
const SCHEMA = "assay_jobs";
const QUEUE = "conversations";
/** Places that are listed at once; a run may have millions. */
const PORTION = 1_000;
/** What has ended wakes idle workers, at most this often. */
const WAKE_MS = 100;
/** After this time the end of a run is looked for again if the database did not answer. */
const AGAIN_MS = 2_000;
/** The runs that one command line may have. */
const MOST_OWN = 20;

const QUEUE_OPTIONS = {
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // The sign of life decides, not the time: a conversation may take hours.
  expireInSeconds: 23 * 60 * 60,
  retryLimit: 10_000, // instances may be restarted often during a long run
  retryDelay: 0,
  deleteAfterSeconds: 60,
  // pg-boss deletes what has waited longer: a run may wait until instances are started again.
  retentionSeconds: 10 * 365 * 24 * 60 * 60,
  warningQueueSize: 10_000_000,
};

interface JobsOptions {
  /** Conversations that this process may have at once. */
  concurrency: number;
  /** True for the command line: its runs are its own, until it ends. */
  isExclusive: boolean;
  onError: (error: unknown) => void;
}

/** What hands the conversations of all runs out to processes: pg-boss with one queue. */
export async function openJobs(
  pool: PostgresPool,
  { concurrency, isExclusive, onError }: JobsOptions,
) {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query({ text, ...(values && { values }) }) },
    schema: SCHEMA,
    schedule: false,
    superviseIntervalSeconds: MONITOR_SECONDS,
    monitorIntervalSeconds: MONITOR_SECONDS,
    queueCacheIntervalSeconds: MONITOR_SECONDS,
    maintenanceIntervalSeconds: 600,
  });
  boss.on("error", onError);
  await boss.start();
  await boss.createQueue(QUEUE, QUEUE_OPTIONS);
  // If the command line dies, its jobs come into the common queue.
  const queue = isExclusive ? `own-${crypto.randomUUID()}` : QUEUE;
  if (isExclusive) {
    await boss.createQueue(queue, { ...QUEUE_OPTIONS, retryLimit: 0, deadLetter: QUEUE });
  }
  // pg-boss reads a queue before it first adds to it, on a connection of its own. In a transaction,
  // runs that are created at once could use up all connections and wait for each other.
  await boss.insert(queue, [], { db: { executeSql: () => Promise.resolve({ rows: [] }) } });

  const mailboxes = new Map<string, ReturnType<typeof createMailbox>>();
  const closed = Promise.withResolvers<void>();
  let isPaused = false;
  let retried = 0;
  let waking: ReturnType<typeof setTimeout> | undefined;
  let wokenAt = -Infinity;
  let woken: string | undefined;

  const mailboxOf = (id: string) => mailboxes.getOrInsertComputed(id, createMailbox);

  /** Gives back what came for a run. */
  function leave(id: string): void {
    mailboxes.get(id)?.close();
    mailboxes.delete(id);
  }

  /** Lets idle workers look for jobs. */
  function wake(): void {
    waking ??= setTimeout(wakeNow, Math.max(0, wokenAt + WAKE_MS - performance.now()));
  }

  function wakeNow(): void {
    clearTimeout(waking);
    waking = undefined;
    wokenAt = performance.now();
    for (const { id, workId } of boss.getWipData()) if (workId === woken) boss.notifyWorker(id);
  }

  /** Adds the conversations of the next places, and the task to list the others after them. */
  async function list(store: SharedStore, run: StoredRun, from: number): Promise<boolean> {
    const { left, next } = await store.listUnfinished(run, { from, portion: PORTION });
    // Early places first, of whichever run: a small run does not wait behind a large one.
    const group = { id: run.endpoint === null ? "replies" : new URL(run.endpoint).origin };
    const jobs = left.map(({ place, ...position }) => ({
      data: { run: run.id, ...position } as JobData,
      priority: -place,
      group,
    }));
    const rest = next === undefined ? [] : [{ data: { run: run.id, from: next }, priority: -next }];
    await boss.insert(QUEUE, [...jobs, ...rest]);
    return jobs.length > 0 || rest.length > 0;
  }

  return {
    list: {
      async add(run, executeSql) {
        const data: JobData = isExclusive ? { run } : { run, from: 0 };
        // deno-lint-ignore no-explicit-any -- pg-boss leaves the rows of any statement untyped
        const db = { executeSql: executeSql as (text: string) => Promise<any> };
        await boss.insert(queue, [{ data }], { db });
      },
    } satisfies JobList,
    wake,
    /** Takes jobs from now on. `join` is called with their runs. */
    async work(store: SharedStore, join: (id: string) => void): Promise<void> {
      if (isExclusive) {
        const options = { localConcurrency: MOST_OWN, pollingIntervalSeconds: 1 };
        await boss.work(queue, options, () => closed.promise); // held as long as the process lives
        return;
      }
      const options = {
        localConcurrency: concurrency,
        localGroupConcurrency: concurrency,
        pollingIntervalSeconds: MONITOR_SECONDS,
        burstWhenReadyExceeds: 1,
      };
      const handle = async ([job]: Job<JobData>[]) => {
        const { data: { run: id, scenario, attempt, from, isContinued }, retryCount, signal } =
          job!;
        if (retryCount > 0) retried++;
        // The watch tells of runs that have ended and are known here.
        const isRunning = mailboxes.has(id) || (await store.getRecord(id))?.status === "running";
        if (!isRunning) return;
        if (scenario === undefined || attempt === undefined) {
          const isLeft = await list(store, (await store.getRun(id))!, from ?? 0);
          if (!isLeft) join(id); // all is stored but the run's end
          wakeNow();
          return store.tell(id); // other processes, too
        }
        join(id);
        await mailboxOf(id).offer({
          position: { scenario, attempt },
          isContinued: isContinued || retryCount > 0,
          signal,
        });
        wake();
      };
      woken = await boss.work<JobData>(queue, options, handle);
      // Some more for other endpoints, if one hangs. They only poll: they pass over all of its jobs.
      const more = Math.floor(concurrency / 8);
      if (more > 0) await boss.work(queue, { ...options, localConcurrency: more }, handle);
    },
    /** The conversations of a run that come to this process. */
    async open(store: SharedStore, run: StoredRun): Promise<RunWork> {
      if (isExclusive) return createLocalWork(planOf(run.request), await readFinished(store, run));
      const { id } = run;
      const mailbox = mailboxOf(id);
      const endIfOver = async (mustAsk: boolean) => {
        const isOver = isPaused ||
          (mustAsk || store.isNearEnd(id)) && await store.isFinished(id);
        if (isOver) mailbox.close();
      };
      await endIfOver(true);
      const close = () => Promise.resolve(leave(id));
      return { ...mailbox.work(endIfOver), close };
    },
    leave,
    /** Takes no more jobs, and gives back those that were not begun. */
    async pause(): Promise<void> {
      isPaused = true;
      await boss.offWork(queue, { wait: false });
      for (const mailbox of mailboxes.values()) mailbox.close();
    },
    async counts(): Promise<{ waiting: number; running: number }> {
      const [stats] = await boss.getQueueStats(QUEUE);
      return { waiting: stats?.readyCount ?? 0, running: stats?.activeCount ?? 0 };
    },
    get retried(): number {
      return retried;
    },
    async close(): Promise<void> {
      clearTimeout(waking);
      closed.resolve();
      if (isExclusive) await boss.deleteQueue(queue);
      await boss.stop({ graceful: false, close: false });
    },
  };
}

export type Jobs = Awaited<ReturnType<typeof openJobs>>;

type Offer = Omit<TakenConversation, "finish" | "giveBack">;

/** Conversations on their way from pg-boss to the runner of their run. */
function createMailbox() {
  const offers: TakenConversation[] = [];
  const waiting: ((found: "more" | "over") => void)[] = [];
  let isClosed = false;

  return {
    /** Resolves when all turns are stored; rejects if the conversation is given back. */
    offer(offer: Offer): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveBack = () => reject(new Error("given back"));
      if (isClosed) giveBack();
      else offers.push({ ...offer, finish: resolve, giveBack });
      waiting.shift()?.("more");
      return promise;
    },
    /** `onFinish` is told whether all turns may have been stored by another process. */
    work(onFinish: (isContinued: boolean) => Promise<void>): Omit<RunWork, "close"> {
      return {
        take() {
          const taken = offers.shift();
          if (!taken) return undefined;
          const finish = () => {
            taken.finish();
            const tell = () => onFinish(taken.isContinued);
            tell().catch(() => setTimeout(() => tell().catch(() => {}), AGAIN_MS));
          };
          return { ...taken, finish };
        },
        wait(signal) {
          if (isClosed) return Promise.resolve("over");
          if (offers.length > 0) return Promise.resolve("more");
          const { promise, resolve } = Promise.withResolvers<"more" | "over">();
          waiting.push(resolve);
          return untilAbort(promise, signal);
        },
      };
    },
    close(): void {
      isClosed = true;
      for (const { giveBack } of offers.splice(0)) giveBack();
      for (const resolve of waiting.splice(0)) resolve("over");
    },
  };
}
