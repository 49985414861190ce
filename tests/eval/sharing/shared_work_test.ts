import { assert, assertEquals } from "@std/assert";
import { createEndpointPaces } from "../../../eval/endpoint/pace.ts";
import { createHeldJobs } from "../../../eval/sharing/held_jobs.ts";
import type { Job, JobQueue } from "../../../eval/sharing/job_queue.ts";
import { createSharedWork } from "../../../eval/sharing/shared_work.ts";
import { openQueuedRun } from "../../fakes/postgres_queues.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { shiftClock } from "../../fakes/shifted_clock.ts";

/** A queue of this many conversations, which records how many each fetch asked for. */
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

const JOBS = ["a", "b", "c"].map((id) => ({ id }) as Job);

/** Holds three jobs until some of them are lost, and returns what was reported. */
async function lose(
  touch: () => Promise<Set<string>>,
  { silentMs }: { silentMs: number },
): Promise<unknown> {
  const lost = Promise.withResolvers<unknown>();
  let now = 0;
  const held = createHeldJobs(
    { touch, complete: () => Promise.resolve(), release: () => Promise.resolve() },
    { now: () => now, touchMs: 1, onLost: (count, reason) => lost.resolve({ count, ...reason }) },
  );
  const signals = JOBS.map((job) => held.hold("queue", job));
  now = silentMs;
  const told = await lost.promise;
  assertEquals(signals.filter(({ aborted }) => aborted).length, JOBS.length - held.count);
  await held.close();
  return told;
}

Deno.test("conversations of which another process has some are told apart from a silent database", async () => {
  const taken = await lose(() => Promise.resolve(new Set(["b"])), { silentMs: 0 });
  assertEquals(taken, { count: 2, isSilent: false });
  const down = () => Promise.reject(new Error("connection terminated"));
  assertEquals(await lose(down, { silentMs: 60_000 }), { count: 3, isSilent: true });
});

Deno.test("a limit that one process had to lower is lowered in the others, and grows again there", async () => {
  const listeners: ((origin: string, limit: number) => void)[] = [];
  const told: [string, number][] = [];
  const board = {
    tell(origin: string, limit: number) {
      told.push([origin, limit]);
      listeners.forEach((listener) => listener(origin, limit));
    },
    listen: (_: unknown, onLowered: (origin: string, limit: number) => void) =>
      void listeners.push(onLowered),
  };
  const [here, there] = [createEndpointPaces(16, board), createEndpointPaces(16, board)];
  const endpoint = "https://model.example/v1";
  const [own, other] = [here(endpoint), there(endpoint)];
  const elsewhere = there("https://other.example/v1");
  const { signal } = new AbortController();
  const limited = { signal, isRateLimit: () => true };
  await own.run(() => Promise.reject(new Error("429")), limited).catch(() => {});
  assertEquals(told, [["https://model.example", 8]]);
  assertEquals([own.limit, other.limit, elsewhere.limit], [8, 8, 16]);
  await other.run(() => Promise.resolve(), { signal, isRateLimit: () => false });
  assertEquals([own.limit, other.limit], [8, 8 + 1 / 8]);
  other.lower(12); // an old one
  assertEquals(other.limit, 8 + 1 / 8);
});

Deno.test("the limits of an endpoint are read while it is called, and not afterwards", async () => {
  let origins: () => Iterable<string> = () => [];
  const paces = createEndpointPaces(16, {
    tell() {},
    listen: (used) => void (origins = used),
  });
  paces("https://idle.example/v1");
  const called = paces("https://model.example/v1");
  const answer = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const call = called.run(() => answer.promise, { signal, isRateLimit: () => false });
  assertEquals([...origins()], ["https://model.example"]);
  answer.resolve();
  await call;
  assertEquals([...origins()], []);
});

const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());
const CONVERSATIONS = 3;

/** A run of three conversations. */
const openRun = () => openQueuedRun(server, { scenarios: CONVERSATIONS });

Deno.test({
  name: "after the database's clock was set back, conversations that wait are handed out",
  ignore,
  async fn() {
    await using run = await openRun();
    await run.query("update assay_jobs.job_common set start_after = now() + interval '1 hour'");
    assertEquals((await run.queues.fetch(run.queue, 10)).length, CONVERSATIONS);
  },
});

Deno.test({
  name: "after the database's clock was set back, the conversations of a dead process are overdue",
  ignore,
  async fn() {
    await using run = await openRun();
    await run.queues.fetch(run.queue, 10);
    await run.query(
      "update assay_jobs.job_common set heartbeat_on = now() + interval '1 hour' where state = 'active'",
    );
    await run.query(
      "update assay_jobs.queue set monitor_on = now() + interval '1 hour', monitor_claim_on = now() + interval '1 hour'",
    );
    await run.queues.sweep(await run.store.usedQueues());
    assertEquals(
      await run.query(`select
        (select count(*)::int from assay_jobs.job_common where heartbeat_on > now()) as alive,
        (select count(*)::int from assay_jobs.queue where monitor_claim_on > now()) as looked_at`),
      [{ alive: 0, looked_at: 0 }],
    );
  },
});

Deno.test({
  name: "conversations wait for years, not for the two weeks of pg-boss",
  ignore,
  async fn() {
    await using run = await openRun();
    assertEquals(
      await run.query(`select count(*)::int as kept from assay_jobs.job_common
        where keep_until > now() + interval '5 years'`),
      [{ kept: CONVERSATIONS }],
    );
  },
});

Deno.test({
  name: "a queue that is about to be used is not swept by a process whose clock is ahead",
  ignore,
  async fn() {
    await using run = await openRun();
    await run.queues.prepare("run-new");
    await run.queues.prepare("run-old");
    await run.query(
      "update assay_jobs.queue set created_on = now() - interval '1 hour' where name = 'run-old'",
    );
    {
      using _shifted = shiftClock(1);
      await run.queues.sweep(await run.store.usedQueues());
    }
    const left = await run.query("select name from assay_jobs.queue order by name");
    assertEquals(left.map(({ name }) => name), [run.queue, "run-new"]);
  },
});
