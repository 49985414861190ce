import { assertEquals } from "@std/assert";
import { createHeldJobs } from "../../../eval/sharing/held_jobs.ts";
import { createSharedWork } from "../../../eval/sharing/shared_work.ts";
import { openQueuedRun } from "../../fakes/postgres_queues.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";

const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());

/** A run of four conversations, of which one is stored and one is taken. */
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
      `insert into turns (run_id, scenario, attempt, turn, seq, failed, took_ms, result)
      select '${id}', n / 500, n % 500, 0, n + 1, 0, 1, '{}' from generate_series(0, 1397) as n`,
    );
    await store.setStatus(id, { status: "interrupted", tally: "count" });
    await store.setStatus(id, { status: "running" });
    const jobs = await queues.fetch((await store.queueOf(id))!, 1_000);
    assertEquals(jobs.length, 102);
    assertEquals(jobs[0]!.data, { scenario: 2, attempt: 398, isContinued: false });
  },
});
