import type { PostgresPool } from "../../shared/postgres/pool.ts";
import { toDatabaseError } from "../../shared/postgres/fault.ts";
import type { ListedConversation, WorkList } from "../store/postgres/listing.ts";

/** A conversation as pg-boss has it. `retryCount` is different for each process that takes it. */
export interface Job {
  id: string;
  retryCount: number;
  data: Omit<ListedConversation, "left">;
  /** True if it was given back before; false if it was overdue. */
  wasReleased: boolean;
  /** How many of its queue come after it. */
  left: number;
}

/** Conversations that wait, and that a process works on, of all processes. */
export interface JobCounts {
  waiting: number;
  running: number;
  /** How long the oldest one has waited, in seconds. */
  lagSeconds: number;
}

/** Hands out conversations to processes: pg-boss, one queue per run. */
export interface JobQueue extends WorkList {
  /** Takes up to `count` conversations, in the order of the batch; none if the queue is gone. */
  fetch(queue: string, count: number): Promise<Job[]>;
  /** All turns of these are stored. */
  complete(queue: string, jobs: Job[]): Promise<void>;
  /** Others may take these at once. */
  release(queue: string, jobs: Job[]): Promise<void>;
  /** Says that this process still has these; returns the ids of those that it really has. */
  touch(queue: string, jobs: Job[]): Promise<Set<string>>;
  counts(): Promise<JobCounts>;
  /**
   * Deletes old queues that no run uses, which a process left when it died, and corrects times that
   * are ahead of the database's clock.
   */
  sweep(usedQueues: string[]): Promise<void>;
  close(): Promise<void>;
}

/** After this time without a sign of life a conversation is given to another process. */
export const HEARTBEAT_SECONDS = 10;
/** How often overdue conversations are looked for. */
const MONITOR_SECONDS = 2;
const SCHEMA = "assay_jobs";
/** Where pg-boss keeps the jobs of all queues. */
const TABLE = `${SCHEMA}.job_common`;
/** After this many new conversations PostgreSQL's statistics are renewed. */
const MANY = 500;
/** Unused queues are deleted at this age: the run of a younger one may not be stored yet. */
const SWEPT_AFTER = "10 minutes";
/** A time so far ahead was written before the database's clock was set back. */
const AHEAD = "1 minute";

const QUEUE_OPTIONS = {
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // The sign of life decides, not the time: a conversation may take hours.
  expireInSeconds: 23 * 60 * 60,
  retryLimit: 10_000, // instances may be restarted often during a long run
  retryDelay: 0,
  // pg-boss deletes what has waited longer: a run may wait until instances are started again, or
  // come back with a backup.
  retentionSeconds: 10 * 365 * 24 * 60 * 60,
  warningQueueSize: 10_000_000,
};

interface JobQueueOptions {
  /** Called if the upkeep of the queues fails, for example because the database is down. */
  onError: (error: unknown) => void;
}

/** Loads and starts pg-boss on the connections of `pool`. */
export async function openJobQueue(
  pool: PostgresPool,
  { onError }: JobQueueOptions,
): Promise<JobQueue> {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({
    db: {
      executeSql: (text, values) => pool.query({ text, ...(values && { values }) }),
    },
    schema: SCHEMA,
    schedule: false,
    supervise: true,
    superviseIntervalSeconds: MONITOR_SECONDS,
    monitorIntervalSeconds: MONITOR_SECONDS,
  });
  boss.on("error", onError);
  await boss.start();
  let newJobs = 0;
  const keysOf = (jobs: Job[]) => jobs.map(({ id, retryCount }) => ({ id, retryCount }));

  /** `fallback` if the queue was dropped: its run has ended. */
  async function unlessDropped<T>(work: () => Promise<T>, fallback: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (/^Queue .* does not exist$/.test((error as Error).message)) return fallback;
      throw toDatabaseError(error);
    }
  }

  return {
    async prepare(queue) {
      await boss.createQueue(queue, QUEUE_OPTIONS);
      // Before pg-boss first adds to a queue it reads it, on a further connection. If it did so in the
      // transaction that fills the queue, runs that are created at once could use up all connections
      // and wait for each other.
      await boss.insert(queue, [], { db: NOWHERE });
    },
    async add(queue, conversations, executeSql) {
      if (conversations.length === 0) return;
      // The highest priority first, so it is also the number of those that are left.
      const jobs = conversations.map(({ left: priority, ...data }) => ({ data, priority }));
      // deno-lint-ignore no-explicit-any -- pg-boss leaves the rows of any statement untyped
      const db = { executeSql: executeSql as (text: string) => Promise<any> };
      await boss.insert(queue, jobs, { db });
      newJobs += jobs.length;
    },
    async isEmpty(queue, execute) {
      const { rows } = await execute(`select 1 from ${TABLE} where name = $1 limit 1`, [queue]);
      return rows.length === 0;
    },
    added() {
      if (newJobs < MANY) return;
      newJobs = 0;
      // PostgreSQL takes a queue that is not in its statistics for a short one, and would read all of
      // it for each sign of life and each end of a conversation.
      pool.query({ text: `analyze (skip_locked) ${TABLE} (id, name, state)` }).catch(() => {});
    },
    drop: (queue) => boss.deleteQueue(queue),
    fetch: (queue, batchSize) =>
      unlessDropped(async () => {
        // None is delayed: one that starts later was listed before the database's clock was set back.
        const options = { batchSize, includeMetadata: true, ignoreStartAfter: true } as const;
        const jobs = await boss.fetch<Job["data"]>(queue, options);
        return jobs.map(({ id, retryCount, data, output, priority }) => ({
          id,
          retryCount,
          data,
          wasReleased: (output as typeof RELEASED | null)?.reason === RELEASED.reason,
          left: priority,
        })).toSorted((a, b) => b.left - a.left);
      }, []),
    // Deleted: nobody asks for them again, and a completed job would be one more row to write.
    complete: (queue, jobs) =>
      unlessDropped(async () => void await boss.deleteJob(queue, keysOf(jobs)), undefined),
    release: (queue, jobs) =>
      unlessDropped(async () => void await boss.fail(queue, keysOf(jobs), RELEASED), undefined),
    touch: (queue, jobs) =>
      unlessDropped(async () => {
        // pg-boss returns the ids, but its types have only the number.
        const touched: { settled?: string[] } = await boss.touch(queue, keysOf(jobs));
        return new Set(touched.settled ?? []);
      }, new Set<string>()),
    async counts() {
      const { rows: [row] } = await pool.query<JobCounts>({
        name: "job_counts",
        // What is not listed yet has waited since its run was started.
        text: `with listed as (
            select count(*) filter (where state < 'active')::int as waiting,
              count(*) filter (where state = 'active')::int as running,
              min(created_on) filter (where state < 'active') as oldest
            from ${SCHEMA}.job
          ), unlisted as (
            select coalesce(sum(places - listed), 0)::int as waiting, min(created_on) as oldest
            from runs join ${SCHEMA}.queue on queue.name = runs.queue
            where status = 'running' and listed < places
          )
          select listed.waiting + unlisted.waiting as waiting, running,
            coalesce(greatest(0,
              extract(epoch from now() - least(listed.oldest, unlisted.oldest))
            ), 0)::float8 as "lagSeconds"
          from listed, unlisted`,
      });
      return row!;
    },
    async sweep(used) {
      const { rows } = await pool.query<{ name: string }>({
        // By the clock of the database, which wrote the time.
        text: `select name from ${SCHEMA}.queue
          where name like 'run-%' and name <> all($1::text[])
            and created_on < now() - interval '${SWEPT_AFTER}'`,
        values: [used],
      });
      for (const { name } of rows) await boss.deleteQueue(name);
      await forgetFuture(pool);
    },
    close: () => boss.stop({ graceful: false, close: false }),
  };
}

/**
 * After the database's clock was set back: pg-boss would not look for overdue conversations before
 * the time at which it last did, and would take those of a dead process for alive until then.
 */
async function forgetFuture(pool: PostgresPool): Promise<void> {
  await pool.query({
    text: `update ${SCHEMA}.queue
      set monitor_claim_on = null, monitor_on = null, maintain_on = null
      where greatest(monitor_claim_on, monitor_on, maintain_on) > now() + interval '${AHEAD}'`,
  });
  await pool.query({
    text: `update ${TABLE} set heartbeat_on = now()
      where state = 'active' and heartbeat_on > now() + interval '${AHEAD}'`,
  });
}

const RELEASED = { reason: "released" };
/** Executes nothing. */
const NOWHERE = { executeSql: () => Promise.resolve({ rows: [] }) };
