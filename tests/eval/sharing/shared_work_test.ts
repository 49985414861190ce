import { assert, assertEquals } from "@std/assert";
import { createHeldJobs } from "../../../eval/sharing/held_jobs.ts";
import type { Job, JobQueue } from "../../../eval/sharing/job_queue.ts";
import { createSharedWork } from "../../../eval/sharing/shared_work.ts";

/** A queue of so many conversations, which notes how many each fetch asked for. */
function createQueue(conversations: number) {
  const fetches: { count: number; left: number }[] = [];
  let left = conversations;
  const nothing = () => Promise.resolve();
  const queues: JobQueue = {
    fetch(_, count) {
      fetches.push({ count, left });
      const jobs = Array.from({ length: Math.min(count, left) }, (): Job => {
        const scenario = conversations - left--;
        const data = { scenario, attempt: 0, isContinued: false };
        return { id: `job ${scenario}`, retryCount: 0, data, wasReleased: false, left };
      });
      return Promise.resolve(jobs);
    },
    touch: (_, jobs) => Promise.resolve(new Set(jobs.map(({ id }) => id))),
    complete: nothing,
    release: nothing,
    prepare: nothing,
    isEmpty: () => Promise.resolve(false),
    add: nothing,
    added() {},
    drop: nothing,
    counts: () => Promise.resolve({ waiting: left, running: 0, lagSeconds: 0 }),
    sweep: nothing,
    close: nothing,
  };
  return { queues, fetches };
}

Deno.test("a long queue is fetched in large batches, and its end in small ones", async () => {
  const { queues, fetches } = createQueue(6_400);
  const held = createHeldJobs(queues);
  const work = createSharedWork({ queues, held }, {
    queue: "q",
    concurrency: 32,
    isOver: () => Promise.resolve(true),
    news: () => new Promise(() => {}),
  });
  const taken: number[] = [];
  for (let next = await work.take(); next; next = await work.take()) {
    taken.push(next.position.scenario);
    next.finish();
  }
  assertEquals(taken, Array.from({ length: 6_400 }, (_, place) => place));
  const sizes = (from: number, to: number) =>
    fetches.filter(({ left }) => left <= from && left > to).map(({ count }) => count);
  assert(sizes(6_400, 6_300)[0]! <= 9, "the first batch was large: the run may be short");
  assert(sizes(6_000, 3_000).every((count) => count >= 32), "the batches were small");
  assert(sizes(500, 0).every((count) => count <= 9), "the last batches were large");
  await work.close();
  await held.close();
});
