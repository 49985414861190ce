import { assertEquals } from "@std/assert";
import { EvalConfig } from "../../../eval/config.ts";
import type { RunWatcher } from "../../../eval/run/manager/shared_runs.ts";
import { createHeldJobs } from "../../../eval/sharing/held_jobs.ts";
import { checkQueue, describeLag, readJobFigures } from "../../../eval/sharing/readiness.ts";
import { createRunWatch } from "../../../eval/sharing/run_watch.ts";
import { createSharedWork } from "../../../eval/sharing/shared_work.ts";
import type { NewsListener } from "../../../eval/store/postgres/run_news.ts";
import { ConfigError, parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { createMetrics } from "../../../shared/ops/metrics.ts";
import { openQueuedRun } from "../../fakes/postgres_queues.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";

const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());

/** A run of four conversations: one is stored, one is taken. */
async function openRun() {
  const run = await openQueuedRun(server, { scenarios: 4 });
  const { id, store, queue, queues } = run;
  const [first] = await queues.fetch(queue, 1);
  await store.recordTurn(id, storedTurn([first!.data.scenario, 0, 0]));
  await queues.complete(queue, [first!]);
  await queues.fetch(queue, 1);
  return { ...run, stored: first!.data.scenario };
}

Deno.test({
  name: "a run whose queue was not in a restored dump goes on with what is not stored",
  ignore,
  async fn() {
    await using run = await openRun();
    const { id, queue, queues, store, stored } = run;
    await run.query("delete from assay_jobs.job_common");
    await run.query("delete from assay_jobs.queue");
    const held = createHeldJobs(queues);
    const work = createSharedWork({ queues, held }, {
      queue,
      concurrency: 2,
      isOver: () => store.isFinished(id),
      news: () => new Promise(() => {}),
      listMore: () => store.listMore(run),
      listAgain: () => store.listAgain(run),
      listAgainAfterMs: 0,
    });
    const taken: number[] = [];
    for (;;) {
      const next = await work.take();
      if (!next && await work.wait(new AbortController().signal) === "over") break;
      if (!next) continue;
      taken.push(next.position.scenario);
      await store.recordTurn(id, storedTurn([next.position.scenario, 0, 0]));
      next.finish();
    }
    assertEquals([...taken, stored].sort(), [0, 1, 2, 3]);
    await work.close();
    await held.close();
  },
});

Deno.test({
  name: "nothing is listed again while conversations wait, or while a process has the last one",
  ignore,
  async fn() {
    await using run = await openRun();
    assertEquals(await run.store.listAgain(run), false);
    await run.queues.fetch(run.queue, 10);
    assertEquals(await run.store.listAgain(run), false);
    assertEquals((await run.queues.counts()).waiting, 0);
  },
});

Deno.test({
  name: "a run that has ended is not listed again",
  ignore,
  async fn() {
    await using run = await openRun();
    await run.store.setStatus(run.id, { status: "cancelled", tally: "count" });
    assertEquals(await run.store.listAgain(run), false);
  },
});

Deno.test({
  name: "a large run is listed in portions, and each of its conversations is handed out once",
  ignore,
  async fn() {
    const scenarios = 25;
    const attempts = 100;
    await using run = await openQueuedRun(server, { scenarios, attempts });
    const { id, queue, queues, store } = run;
    const listed = async () => (await run.query("select id from assay_jobs.job_common")).length;
    assertEquals(await listed(), 1_000);
    assertEquals((await queues.counts()).waiting, scenarios * attempts);
    const held = createHeldJobs(queues);
    const processes = [0, 1].map(() =>
      createSharedWork({ queues, held }, {
        queue,
        concurrency: 64,
        isOver: () => Promise.resolve(true),
        news: () => new Promise(() => {}),
        listMore: () => store.listMore(run),
      })
    );
    const taken: string[] = [];
    await Promise.all(processes.map(async (work) => {
      for (let next = await work.take(); next; next = await work.take()) {
        const { scenario, attempt } = next.position;
        taken.push(`${scenario}/${attempt}`);
      }
    }));
    assertEquals([taken.length, new Set(taken).size], [2_500, 2_500]);
    assertEquals(await store.listMore(run), false);
    for (const work of processes) await work.close();
    await held.close();
    await store.setStatus(id, { status: "cancelled", tally: "count" });
  },
});

Deno.test({
  name: "portions that are stored already are passed over when a run is resumed",
  ignore,
  async fn() {
    await using run = await openQueuedRun(server, { scenarios: 3, attempts: 500 });
    const { id, queues, store } = run;
    await run.query(
      `insert into turns (run_id, scenario, attempt, turn, seq, failed, missing, took_ms, result, facets)
      select '${id}', n / 500, n % 500, 0, n + 1, 0, 0, 1, '{}', '{}' from generate_series(0, 1397) as n`,
    );
    await store.setStatus(id, { status: "interrupted", tally: "count" });
    await store.setStatus(id, { status: "running" });
    const jobs = await queues.fetch((await store.queueOf(id))!, 1_000);
    assertEquals(jobs.length, 102);
    assertEquals(jobs[0]!.data, { scenario: 2, attempt: 398, isContinued: false });
  },
});

const counts = (lagSeconds: number) => () =>
  Promise.resolve({ waiting: 7, running: 3, lagSeconds });
const figures = { counts: counts(1), retried: 4, takenOver: 2, silentMs: 0 };

Deno.test("readiness names a queue that does not answer, and how long conversations wait", async () => {
  assertEquals(await checkQueue({ silentMs: 3_000 })(), undefined);
  assertEquals(
    await checkQueue({ silentMs: 12_400 })(),
    "the queue of conversations has not answered for 12 s",
  );
  assertEquals(await describeLag({ counts: counts(1) })(), undefined);
  assertEquals(
    await describeLag({ counts: counts(61.7) })(),
    "7 conversations are waiting, the oldest for 62 s",
  );
  assertEquals(await describeLag({ counts: () => Promise.reject(new Error("down")) })(), undefined);
});

Deno.test("figures of the queue are missing from the metrics while the database is down", async () => {
  let isDown = true;
  const read = () => isDown ? Promise.reject(new Error("down")) : figures.counts();
  const jobs = () => readJobFigures({ ...figures, counts: read });
  const metrics = createMetrics({ runs: () => 0, jobs });
  const names = async () =>
    [...(await metrics.text()).matchAll(/^assay_jobs_(\w+) /gm)].map(([, name]) => name);
  const own = ["retried_total", "taken_over_total"];
  const all = ["waiting", "running", "lag_seconds", ...own];
  assertEquals(await names(), own);
  isDown = false;
  assertEquals(await names(), all);
  isDown = true;
  assertEquals(await names(), own);
});

Deno.test("metrics count the conversations of all processes, and what this one took again", async () => {
  const read = async (counts: typeof figures.counts) => {
    const jobs = () => readJobFigures({ ...figures, counts });
    const text = await createMetrics({ runs: () => 0, jobs }).text();
    return Object.fromEntries(
      [...text.matchAll(/^assay_jobs_(\w+) (\S+)$/gm)].map(([, name, value]) => [name, value]),
    );
  };
  assertEquals(await read(figures.counts), {
    running: "3",
    lag_seconds: "1",
    retried_total: "4",
    taken_over_total: "2",
    waiting: "7",
  });
  const down = await read(() => Promise.reject(new Error("down")));
  assertEquals([down.retried_total, down.taken_over_total], ["4", "2"]);
});

Deno.test("an unusable address of a database is refused without being shown", () => {
  for (const EVAL_DATA of ["postgres://user:hidden@host", "postgres://user:hid/den@host:x/y"]) {
    try {
      parseConfig(EvalConfig, { EVAL_DATA });
      throw new Error("it was accepted");
    } catch (error) {
      assertEquals(error instanceof ConfigError, true);
      assertEquals((error as Error).message.includes("hid"), false);
    }
  }
});

Deno.test("news of turns wake those who follow a run; those of its state also make a process look", async () => {
  let tell: NewsListener = () => {};
  let looked = Promise.withResolvers<void>();
  let looks = 0;
  const watch = createRunWatch({
    store: {
      openRuns() {
        looks++;
        looked.resolve();
        looked = Promise.withResolvers();
        return Promise.resolve([]);
      },
      statuses: () => Promise.resolve(new Map()),
      reserve: () => Promise.resolve(),
    },
    news: {
      tell() {},
      listen: (onNews) => void (tell = onNews),
      close: () => Promise.resolve(),
    },
    log: silentLogger,
    joins: true,
  });
  const changed: string[] = [];
  const first = looked.promise;
  watch.watch({
    active: () => ["mine"],
    reserved: () => [],
    join() {},
    ended() {},
    changed: (id) => void changed.push(id),
  });
  await first;
  const woken: string[] = [];
  const follow = [
    watch.news("mine").then(() => woken.push("turns")),
    watch.stateNews("mine").then(() => woken.push("state")),
  ];
  tell("mine", "turns");
  await follow[0];
  assertEquals([woken, changed, looks], [["turns"], ["mine"], 1]);
  const second = looked.promise;
  tell("mine", "state");
  await follow[1];
  await second;
  assertEquals([woken, changed, looks], [["turns", "state"], ["mine", "mine"], 2]);
  watch.stop();
});

Deno.test("a look reports runs that have ended elsewhere, and renews what is reserved", async () => {
  for (const joins of [true, false]) {
    const looked = Promise.withResolvers<void>();
    const calls: unknown[] = [];
    const watch = createRunWatch({
      store: {
        openRuns: () => Promise.resolve(["open"]),
        statuses: () => Promise.resolve(new Map([["going", "running"], ["ended", "completed"]])),
        reserve: (ids) => Promise.resolve(void calls.push(["reserve", ids])),
      },
      news: { tell() {}, listen() {}, close: () => Promise.resolve() },
      log: silentLogger,
      joins,
    });
    const watcher: RunWatcher = {
      active: () => ["going", "ended", "deleted"],
      reserved: () => ["going"],
      join: (open) => void calls.push(["join", open]),
      ended(id, status) {
        calls.push(["ended", id, status]);
        if (id === "deleted") setTimeout(looked.resolve);
      },
      changed() {},
    };
    watch.watch(watcher);
    await looked.promise;
    watch.stop();
    assertEquals(calls, [
      ["reserve", ["going"]],
      ["ended", "ended", "completed"],
      ["ended", "deleted", undefined],
      ...(joins ? [["join", ["open"]]] : []),
    ]);
  }
});

Deno.test("a process that has nothing reserved asks for no reservation", async () => {
  const looked = Promise.withResolvers<void>();
  let reservations = 0;
  const watch = createRunWatch({
    store: {
      openRuns: () => Promise.resolve([]),
      statuses: () => Promise.resolve(new Map()),
      reserve: () => Promise.resolve(void reservations++),
    },
    news: { tell() {}, listen() {}, close: () => Promise.resolve() },
    log: silentLogger,
    joins: true,
  });
  watch.watch({
    active: () => [],
    reserved: () => [],
    join: () => looked.resolve(),
    ended() {},
    changed() {},
  });
  await looked.promise;
  watch.stop();
  assertEquals(reservations, 0);
});
