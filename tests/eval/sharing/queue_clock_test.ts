import { assertEquals } from "@std/assert";
import { openQueuedRun } from "../../fakes/postgres_queues.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { shiftClock } from "../../fakes/shifted_clock.ts";

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
