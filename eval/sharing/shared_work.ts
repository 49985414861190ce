import { untilAbort } from "../../shared/abort.ts";
import type { RunWork, TakenConversation } from "../run/manager/run_ports.ts";
import type { HeldJobs } from "./held_jobs.ts";
import type { Job, JobQueue } from "./job_queue.ts";

interface SharedWorkOptions {
  queue: string;
  /** Conversations that this process may have at once. */
  concurrency: number;
  /** True if no process has an unfinished conversation of the run, or the run has ended. */
  isOver: () => Promise<boolean>;
  /** Resolves when something about the run has changed. */
  news: () => Promise<void>;
  /** Lists the next conversations of the run in the queue; false if all are listed. */
  listMore?: () => Promise<boolean>;
  /** Lists what is left of the run if nothing of it is in the queue; true if there was something. */
  listAgain?: () => Promise<boolean>;
  /** How long no conversation was found before `listAgain` is called. */
  listAgainAfterMs?: number;
  /** Told each conversation that another process, or this one, had before. */
  onRetried?: (how: { isTakenOver: boolean }) => void;
}

/** How often an idle process looks for conversations and for the end, if no news comes. */
const POLL_MS = 500;
const LIST_AGAIN_AFTER_MS = 10_000;
/** News come in bursts; a process looks at most this often. */
const LEAST_MS = 50;
/** A process fetches at most this part of what is left: the last ones are for all processes. */
const PART = 1 / 64;

/**
 * Takes the conversations of a run from a queue that all processes share. They are fetched in
 * batches, some ahead of time, so that no worker waits for the database while there are more. While
 * many are left the batches are large: fetching costs the database more than what is fetched.
 */
export function createSharedWork(
  { queues, held }: { queues: JobQueue; held: HeldJobs },
  options: SharedWorkOptions,
): RunWork {
  const { queue, concurrency, isOver, news, listMore, listAgain, onRetried } = options;
  const { listAgainAfterMs = LIST_AGAIN_AFTER_MS } = options;
  const fewest = Math.ceil(concurrency / 4);
  let ahead = fewest;
  const ready: { job: Job; signal: AbortSignal }[] = [];
  let wanted = 0;
  let isDrained = false;
  let isListed = listMore === undefined;
  let isClosed = false;
  let fetching: Promise<void> | undefined;
  let waiting: Promise<"more" | "over"> | undefined;

  function fetchMore(): Promise<void> {
    return fetching ??= fetchBatch().finally(() => fetching = undefined);
  }

  async function fetchBatch(): Promise<void> {
    const count = wanted + ahead;
    const jobs = await queues.fetch(queue, count);
    isDrained = jobs.length < count;
    if (isDrained && !isListed && !isClosed) {
      isListed = !await listMore!();
      if (!isListed) jobs.push(...await queues.fetch(queue, count - jobs.length));
      isDrained = isListed;
    }
    const left = jobs.at(-1)?.left ?? 0;
    ahead = Math.max(fewest, Math.min(concurrency, Math.floor(left * PART)));
    for (const job of jobs) ready.push({ job, signal: held.hold(queue, job) });
    if (isClosed) giveBackAll();
  }

  function giveBackAll(): void {
    for (const { job } of ready.splice(0)) held.end(queue, job, "release");
  }

  function toTaken({ job, signal }: { job: Job; signal: AbortSignal }): TakenConversation {
    const { scenario, attempt, isContinued } = job.data;
    if (job.retryCount > 0) onRetried?.({ isTakenOver: !job.wasReleased });
    return {
      position: { scenario, attempt },
      isContinued: isContinued || job.retryCount > 0,
      signal,
      finish: () => held.end(queue, job, "complete"),
      giveBack: () => held.end(queue, job, "release"),
    };
  }

  function next(): TakenConversation | undefined {
    for (let one = ready.shift(); one; one = ready.shift()) {
      if (one.signal.aborted) continue; // lost while it waited here
      if (ready.length < ahead / 2 && !isDrained) fetchMore().catch(() => {});
      return toTaken(one);
    }
    return undefined;
  }

  async function takeFetched(): Promise<TakenConversation | undefined> {
    wanted++;
    try {
      // A fetch that is under way may have been begun for others.
      for (let tries = 0; tries < 2; tries++) {
        await Promise.resolve(); // all that ask together share one fetch
        await fetchMore();
        const taken = next();
        if (taken || isDrained) return taken;
      }
      return undefined;
    } finally {
      wanted--;
    }
  }

  async function look(): Promise<"more" | "over"> {
    let idleSince = performance.now();
    for (;;) {
      if (isClosed || await isOver()) return "over";
      const changed = news();
      await fetchMore();
      if (ready.length > 0) return "more";
      if (performance.now() - idleSince >= listAgainAfterMs) {
        idleSince = performance.now();
        if (await listAgain?.()) isListed = listMore === undefined;
      }
      const pause = new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
      const least = new Promise<void>((resolve) => setTimeout(resolve, LEAST_MS));
      await Promise.race([pause, Promise.all([changed, least])]);
    }
  }

  return {
    take: () => next() ?? (isDrained ? undefined : takeFetched()),
    wait(signal) {
      waiting ??= look().finally(() => waiting = undefined);
      return untilAbort(waiting, signal);
    },
    async close() {
      isClosed = true;
      giveBackAll();
      await held.flush();
    },
  };
}
