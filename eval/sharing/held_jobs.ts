import { HEARTBEAT_SECONDS, type Job, type JobQueue } from "./job_queue.ts";

/** What this process has taken and not yet finished or given back. */
export type HeldJobs = ReturnType<typeof createHeldJobs>;

interface Held {
  job: Job;
  lost: AbortController;
}

const TOUCH_MS = 2_500;
/** Jobs that end within this time share one statement. */
const FLUSH_MS = 250;
/** After this time without a confirmation a process has lost its jobs, or is about to. */
const LOST_MS = HEARTBEAT_SECONDS * 1000 - 500;

interface HeldJobsOptions {
  /** Milliseconds of a clock that goes on while the process is stopped. */
  now?: () => number;
  /** How often the database is told what this process has. */
  touchMs?: number;
  /** `isSilent`: the database has not answered for so long that another process may have them. */
  onLost?: (count: number, reason: { isSilent: boolean }) => void;
}

export function createHeldJobs(
  queues: Pick<JobQueue, "touch" | "complete" | "release">,
  { now = () => performance.now(), touchMs = TOUCH_MS, onLost = () => {} }: HeldJobsOptions = {},
) {
  const held = new Map<string, Map<string, Held>>();
  const ended = { complete: new Map<string, Job[]>(), release: new Map<string, Job[]>() };
  let confirmedAt = now();
  let flushing: Promise<void> | undefined;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let isTouching = false;

  /** Returns how many of them were still held. */
  function lose(queue: string, ids: string[]): number {
    const own = held.get(queue);
    let count = 0;
    for (const id of ids) {
      const one = own?.get(id);
      if (!one) continue;
      own!.delete(id);
      one.lost.abort(new DOMException("another process has this conversation", "AbortError"));
      count++;
    }
    return count;
  }

  async function touch(): Promise<void> {
    const started = now();
    if (started - confirmedAt > LOST_MS) {
      let count = 0;
      for (const [queue, jobs] of held) count += lose(queue, [...jobs.keys()]);
      if (count > 0) onLost(count, { isSilent: true });
    }
    if (isTouching) return;
    isTouching = true;
    try {
      for (const [queue, jobs] of held) {
        if (jobs.size === 0) {
          held.delete(queue);
          continue;
        }
        const asked = [...jobs.values()];
        const alive = await queues.touch(queue, asked.map(({ job }) => job));
        // Those that ended meanwhile are no longer held.
        const count = lose(queue, asked.map(({ job }) => job.id).filter((id) => !alive.has(id)));
        if (count > 0) onLost(count, { isSilent: false });
      }
      confirmedAt = started;
    } catch {
      // The database is down; after `LOST_MS` all jobs are given up.
    } finally {
      isTouching = false;
    }
  }

  async function flushOnce(): Promise<void> {
    for (const how of ["complete", "release"] as const) {
      for (const [queue, jobs] of [...ended[how]]) {
        ended[how].delete(queue);
        try {
          await queues[how](queue, jobs);
        } catch {
          ended[how].set(queue, [...jobs, ...ended[how].get(queue) ?? []]); // tried again
        }
      }
    }
  }

  /** Tells the database what has ended until now. */
  function flush(): Promise<void> {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    return flushing ??= flushOnce().finally(() => {
      flushing = undefined;
      if (ended.complete.size + ended.release.size > 0) flushTimer ??= setTimeout(flush, TOUCH_MS);
    });
  }

  const timer = setInterval(touch, touchMs);

  return {
    /** From now on the job is kept alive; the signal aborts when another process may have it. */
    hold(queue: string, job: Job): AbortSignal {
      let own = held.get(queue);
      if (!own) held.set(queue, own = new Map());
      const lost = new AbortController();
      own.set(job.id, { job, lost });
      return lost.signal;
    },
    /** Stops holding a job. The database is told soon, together with others. */
    end(queue: string, job: Job, how: "complete" | "release"): void {
      const own = held.get(queue);
      if (!own?.delete(job.id)) return; // lost before
      const jobs = ended[how].get(queue) ?? [];
      ended[how].set(queue, [...jobs, job]);
      flushTimer ??= setTimeout(flush, FLUSH_MS);
    },
    flush,
    /** Milliseconds since the database last confirmed what this process has. */
    get silentMs(): number {
      return now() - confirmedAt;
    },
    get count(): number {
      return held.values().reduce((sum, jobs) => sum + jobs.size, 0);
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await flush();
      clearTimeout(flushTimer);
    },
  };
}
