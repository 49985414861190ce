import { assert, assertEquals, assertRejects } from "@std/assert";
import { createLocalWork } from "../../../eval/run/execute/runner.ts";
import type { RunWork, TakenConversation } from "../../../eval/run/manager/run_ports.ts";
import { createHeldJobs } from "../../../eval/sharing/held_jobs.ts";
import { createPaceBoard } from "../../../eval/sharing/pace_board.ts";
import { createSharedWork } from "../../../eval/sharing/shared_work.ts";
import { openWithQueues } from "../../fakes/postgres_queues.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";
// connections to PostgreSQL outlive a test
import { test } from "../../fakes/leaky.ts";

const CONNECTIONS = 6;
const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
const opened = ignore ? undefined! : await openWithQueues(server, { maxConnections: CONNECTIONS });
Deno.test.afterAll(async () => {
  if (ignore) return;
  await opened[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const SCENARIOS = 6;
const request = evaluateRequest({ scenarios: SCENARIOS, attempts: 2 });

/** The work of a run of 12 conversations, of which one is stored. `others` makes further processes. */
type OpenWork = () => Promise<{ work: RunWork; others: () => RunWork } & AsyncDisposable>;

const openLocal: OpenWork = () => {
  const work = createLocalWork(
    { scenarios: request.test_batch, attempts: request.attempts },
    { isWhole: ({ scenario, attempt }) => scenario === 1 && attempt === 1 },
  );
  return Promise.resolve({ work, others: () => work, async [Symbol.asyncDispose]() {} });
};

const openShared: OpenWork = async () => {
  const { store, queues } = opened;
  const { id } = await store.createRun({ request, testName: "t" });
  await store.recordTurn(id, storedTurn([1, 1, 0]));
  await store.setStatus(id, { status: "interrupted", tally: "count" });
  await store.setStatus(id, { status: "running" }); // lists what is left
  const queue = (await store.queueOf(id))!;
  const helds: ReturnType<typeof createHeldJobs>[] = [];
  const finished = new Set<string>();
  const others = () => {
    const held = createHeldJobs(queues);
    helds.push(held);
    const shared = createSharedWork({ queues, held }, {
      queue,
      concurrency: 4,
      isOver: () => Promise.resolve(finished.size === SCENARIOS * 2 - 1),
      news: () => new Promise(() => {}),
    });
    return { ...shared, take: async () => noting(await shared.take(), finished) };
  };
  return {
    work: others(),
    others,
    async [Symbol.asyncDispose]() {
      for (const held of helds) await held.close();
    },
  };
};

function noting(taken: TakenConversation | undefined, finished: Set<string>) {
  return taken && {
    ...taken,
    finish() {
      finished.add(nameOf(taken));
      taken.finish();
    },
  };
}

const nameOf = ({ position }: TakenConversation) => `${position.scenario}/${position.attempt}`;

const ADAPTERS: Record<string, OpenWork> = {
  "in process": openLocal,
  ...(!ignore && { "pg-boss": openShared }),
};
const never = new AbortController().signal;

for (const [name, open] of Object.entries(ADAPTERS)) {
  test(`each conversation that is left is handed out once, to whoever asks (${name})`, async () => {
    await using opened = await open();
    const works = [opened.work, opened.others()];
    const had: string[] = [];
    await Promise.all(works.map(async (work) => {
      for (;;) {
        const taken = await work.take();
        if (!taken && await work.wait(never) === "over") return;
        if (!taken) continue;
        had.push(nameOf(taken));
        taken.finish();
      }
    }));
    assertEquals(had.length, SCENARIOS * 2 - 1);
    assertEquals(new Set(had).size, had.length);
    assert(!had.includes("1/1"), "a stored conversation was handed out");
    for (const work of works) await work.close();
  });

  test(`conversations are continued only where a part may be stored (${name})`, async () => {
    await using opened = await open();
    const taken = await opened.work.take();
    assertEquals(taken?.isContinued, name === "in process"); // it does not know yet, so it looks
    await opened.work.close();
  });
}

test({
  name: "a conversation that is given back is handed to another process, as one to be continued",
  ignore,
  async fn() {
    await using opened = await openShared();
    const taken = (await opened.work.take())!;
    taken.giveBack();
    await opened.work.close(); // gives back what was fetched ahead, too
    const other = opened.others();
    const found: TakenConversation[] = [];
    for (let next = await other.take(); next; next = await other.take()) found.push(next);
    const again = found.find((one) => nameOf(one) === nameOf(taken));
    assertEquals([found.length, again?.isContinued], [SCENARIOS * 2 - 1, true]);
    await other.close();
  },
});

test({
  name: "waiting for a conversation ends with the signal",
  ignore,
  async fn() {
    await using opened = await openShared();
    while (await opened.work.take());
    const leaving = new AbortController();
    const waiting = assertRejects(() => opened.work.wait(leaving.signal), DOMException);
    leaving.abort(new DOMException("leave", "AbortError"));
    await waiting;
    await opened.work.close();
  },
});

test({
  name: "if storing a run fails, neither the run nor its conversations exist",
  ignore,
  async fn() {
    const { store, queues, pool } = opened;
    const before = (await store.listRuns({ limit: 50 })).runs.length;
    const { waiting } = await queues.counts();
    await pool.query({
      text: `create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'no'; end $$;
        create trigger refuse before update on runs for each row execute function refuse()`,
    });
    try {
      await assertRejects(() => store.createRun({ request, testName: "t" }), Error, "no");
    } finally {
      await pool.query({ text: "drop function refuse cascade" });
    }
    assertEquals((await store.listRuns({ limit: 50 })).runs.length, before);
    assertEquals((await queues.counts()).waiting, waiting);
  },
});

test({
  name: "more runs can be created and resumed at once than there are connections",
  ignore,
  async fn() {
    const { store } = opened;
    const many = Array.from({ length: 3 * CONNECTIONS });
    const created = await Promise.all(many.map(() => store.createRun({ request, testName: "t" })));
    assertEquals(created.filter(({ outcome }) => outcome === "created").length, many.length);
    const set = (status: "interrupted" | "running" | "cancelled") =>
      Promise.all(created.map(({ id }) => store.setStatus(id, { status, tally: "count" })));
    await set("interrupted");
    assertEquals((await set("running")).filter((status) => status !== "running"), []);
    await set("cancelled");
  },
});

test({
  name: "a process whose conversation was given to another learns it at its next sign of life",
  ignore,
  async fn() {
    const { store, queues } = opened;
    const { id } = await store.createRun({ request, testName: "t" });
    const queue = (await store.queueOf(id))!;
    const [job, kept] = await queues.fetch(queue, 2);
    await queues.release(queue, [job!]);
    const [again] = await queues.fetch(queue, 1); // the first of the batch again
    assertEquals([again!.id, again!.retryCount, again!.wasReleased], [job!.id, 1, true]);
    assertEquals(await queues.touch(queue, [job!, kept!]), new Set([kept!.id]));
    await queues.complete(queue, [job!]); // too late: it is another's now
    assertEquals(await queues.touch(queue, [again!]), new Set([again!.id]));
    await store.setStatus(id, { status: "cancelled", tally: "count" });
    assertEquals(await queues.fetch(queue, 1), []);
  },
});

test({
  name: "conversations are handed out in the order of the batch, and leave nothing behind",
  ignore,
  async fn() {
    const { store, queues, pool } = opened;
    const { id } = await store.createRun({ request, testName: "t" });
    const queue = (await store.queueOf(id))!;
    const jobs = await queues.fetch(queue, SCENARIOS * 2);
    assertEquals(jobs.map(({ left }) => left), jobs.map((_, place) => jobs.length - 1 - place));
    const { id: first, data } = jobs[0]!;
    assertEquals([data.scenario, data.attempt], [0, 0]);
    await queues.complete(queue, jobs.slice(1));
    const { rows } = await pool.query<{ id: string }>({
      text: "select id from assay_jobs.job where name = $1",
      values: [queue],
    });
    assertEquals(rows, [{ id: first }]);
    await store.setStatus(id, { status: "cancelled", tally: "count" });
  },
});

test({
  name: "the statistics of the database know a long queue soon after its run was created",
  ignore,
  async fn() {
    const { store, pool } = opened;
    const { id } = await store.createRun({
      request: evaluateRequest({ scenarios: 6, attempts: 100 }),
      testName: "t",
    });
    const queue = (await store.queueOf(id))!;
    const isKnown = async () => {
      const { rows } = await pool.query({
        text: `select 1 from pg_stats
          where schemaname = 'assay_jobs' and tablename = 'job_common' and attname = 'name'
            and $1 = any(most_common_vals::text::text[])`,
        values: [queue],
      });
      return rows.length > 0;
    };
    await until(isKnown, { within: 60_000, what: "the queue is in the statistics" });
    await store.setStatus(id, { status: "cancelled", tally: "count" });
  },
});

test({
  name: "the limit of an endpoint reaches the processes that call it, and not the one that told it",
  ignore,
  async fn() {
    const boards = [createPaceBoard(opened.pool), createPaceBoard(opened.pool)] as const;
    const lowered = Promise.withResolvers<[string, number]>();
    const origins = () => ["https://model.example"];
    boards[0].listen(origins, () => lowered.reject(new Error("it came back")));
    boards[1].listen(origins, (origin, limit) => lowered.resolve([origin, limit]));
    boards[0].tell("https://other.example", 2);
    boards[0].tell("https://model.example", 6.5);
    assertEquals(await lowered.promise, ["https://model.example", 6.5]);
    for (const board of boards) board.stop();
  },
});
