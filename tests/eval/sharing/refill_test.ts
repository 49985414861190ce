import { assertEquals } from "@std/assert";
import { createHeldJobs } from "../../../eval/sharing/held_jobs.ts";
import { createSharedWork } from "../../../eval/sharing/shared_work.ts";
import { openQueuedRun } from "../../fakes/postgres_queues.ts";
import { postgresBin } from "../../fakes/postgres_server.ts";
import { storedTurn } from "../../fakes/stored_runs.ts";

const ignore = postgresBin === undefined;

/** A run of four conversations, of which one is stored and one is taken. */
async function openRun() {
  const run = await openQueuedRun({ scenarios: 4 });
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
      refill: () => store.refill(id),
      refillAfterMs: 0,
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
    assertEquals(await run.store.refill(run.id), false);
    await run.queues.fetch(run.queue, 10);
    assertEquals(await run.store.refill(run.id), false);
    assertEquals((await run.queues.counts()).waiting, 0);
  },
});

Deno.test({
  name: "a run that has ended is not listed again",
  ignore,
  async fn() {
    await using run = await openRun();
    await run.store.setStatus(run.id, { status: "cancelled", tally: "count" });
    assertEquals(await run.store.refill(run.id), false);
  },
});
