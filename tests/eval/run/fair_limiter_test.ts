import { assertEquals, assertRejects } from "@std/assert";
import { Kysely } from "kysely";
import { DatabaseSync } from "node:sqlite";
import { EvalConfig } from "../../../eval/config.ts";
import * as observation from "../../../eval/ask/observation.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { createFairLimiter, type Limiter } from "../../../eval/run/fair_limiter.ts";
import { checkStore } from "../../../eval/run/readiness.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import { createRunIds } from "../../../eval/store/run_record.ts";
import { createRunStore } from "../../../eval/store/runs/run_store.ts";
import type { Tables } from "../../../eval/store/schema/schema.ts";
import { createSqliteDialect, openSqlite } from "../../../eval/store/sqlite_connection.ts";
import { storageError } from "../../../eval/store/store_fault.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { createWorkerBoard } from "../../../shared/service/worker_call.ts";
import { parseConfig } from "../../../shared/service/config.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { unavailable } from "../../../shared/service/postgres/fault.ts";
import { evaluateRequestOf } from "../../fakes/eval_service.ts";
import { startFaultyEndpoint } from "../../fakes/faulty_endpoint.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { startServiceProcess } from "../../fakes/service_process.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";

/** Conversations that last until the test ends them. */
function conversationsOf(limiter: Limiter) {
  const under: (() => void)[] = [];
  const all: Promise<void>[] = [];
  return {
    start(count: number, signal?: AbortSignal): Promise<void>[] {
      const started = Array.from(
        { length: count },
        () => limiter(() => new Promise<void>((resolve) => under.push(resolve)), signal),
      );
      all.push(...started);
      return started;
    },
    get running() {
      return under.length;
    },
    end(count = under.length) {
      for (const end of under.splice(0, count)) end();
    },
    async endAll() {
      while (under.length > 0) {
        for (const end of under.splice(0)) end();
        await settle();
      }
      await Promise.allSettled(all);
    },
  };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a single run may use the whole limit, and no more", async () => {
  const conversations = conversationsOf(createFairLimiter(16).forRun("http://a"));
  conversations.start(20);
  await settle();
  assertEquals(conversations.running, 16);
  conversations.end(3);
  await settle();
  assertEquals(conversations.running, 16);
  await conversations.endAll();
});

Deno.test("an endpoint that hangs and uses the whole limit does not stop a run against another endpoint", async () => {
  const fair = createFairLimiter(64);
  const hanging = conversationsOf(fair.forRun("http://hanging/v1"));
  const small = conversationsOf(fair.forRun("http://quick/v1"));
  hanging.start(100);
  await settle();
  small.start(20);
  await settle();
  assertEquals([hanging.running, small.running], [64, 8]);
  for (let rounds = 0; rounds < 3 && small.running > 0; rounds++) {
    small.end();
    await settle();
  }
  assertEquals([hanging.running, small.running], [64, 0]);
  await hanging.endAll();
});

Deno.test("at most twice the limit is running, however many endpoints hang", async () => {
  const fair = createFairLimiter(16);
  const conversations = Array.from(
    { length: 20 },
    (_, index) => conversationsOf(fair.forRun(`http://h${index}`)),
  );
  for (const each of conversations) each.start(16);
  await settle();
  assertEquals(conversations.reduce((sum, { running }) => sum + running, 0), 32);
  for (let rounds = 0; rounds < 20; rounds++) {
    conversations.forEach((each) => each.end());
    await settle();
  }
  assertEquals(conversations.map(({ running }) => running), conversations.map(() => 0));
});

Deno.test("a limit below eight is never exceeded", async () => {
  const fair = createFairLimiter(5);
  const [one, two] = ["http://a", "http://b"].map((url) => conversationsOf(fair.forRun(url)));
  one!.start(5);
  two!.start(5);
  await settle();
  assertEquals([one!.running, two!.running], [5, 0]);
  one!.end(1);
  await settle();
  assertEquals([one!.running, two!.running], [4, 1]);
  await one!.endAll();
  await two!.endAll();
});

Deno.test("the endpoint with the fewest conversations comes next, then its run with the fewest", async () => {
  const fair = createFairLimiter(8);
  const large = conversationsOf(fair.forRun("http://a/v1"));
  const small = conversationsOf(fair.forRun("http://a/v2"));
  const other = conversationsOf(fair.forRun("http://b"));
  large.start(40);
  await settle();
  small.start(40);
  other.start(40);
  await settle();
  assertEquals([large.running, small.running, other.running], [8, 0, 1]);
  for (let ended = 0; ended < 8; ended++) {
    large.end(1);
    await settle();
  }
  assertEquals([large.running, small.running, other.running], [2, 2, 4]);
  for (const each of [large, small, other]) await each.endAll();
});

Deno.test("an aborted wait does not count as running, and an aborted signal rejects at once", async () => {
  const fair = createFairLimiter(1);
  const limiter = fair.forRun("http://a");
  const conversations = conversationsOf(limiter);
  conversations.start(1);
  const leaving = new AbortController();
  const [left] = conversations.start(1, leaving.signal);
  conversations.start(1);
  leaving.abort(new DOMException("gone", "AbortError"));
  await assertRejects(() => left!, DOMException, "gone");
  await assertRejects(() => limiter(() => Promise.resolve(), leaving.signal), DOMException, "gone");
  conversations.end();
  await settle();
  assertEquals(conversations.running, 1);
  await conversations.endAll();
});

Deno.test("work that fails no longer counts as running", async () => {
  const limiter = createFairLimiter(1).forRun("http://a");
  await assertRejects(() => limiter(() => Promise.reject(new Error("no"))), Error, "no");
  assertEquals(await limiter(() => Promise.resolve("next")), "next");
});

Deno.test("a run completes while another one hangs with all conversations of the service", async () => {
  await using hanging = await startFaultyEndpoint({ faultOf: () => "a hang" });
  await using quick = await startFaultyEndpoint();
  const config = parseConfig(EvalConfig, { EVAL_CONCURRENCY: "16" });
  const deps = createEvalDeps(config, { log: silentLogger, store: memoryStore() });
  const service = createEvalHandler(deps);
  const evaluate = (endpoint: string) => {
    const interactions = [{ id: "i", user_message: "Hello" }];
    const body = { test_batch: { id: "s", interactions }, endpoint, model_id: "m", attempts: 40 };
    return service(evaluateRequestOf(body));
  };
  // Its other conversations count as running too: they wait for the first call.
  const stuck = evaluate(`${hanging.origin}/v1/chat/completions`);
  await until(() => hanging.underWay > 0);
  const response = await evaluate(quick.baseUrl);
  assertEquals((await response.json()).message, "Evaluation completed successfully");
  deps.runs.abandon();
  assertEquals((await stuck).status, 503);
});

Deno.test("a store that cannot be written is not ready, and the check says why", async () => {
  const store = memoryStore();
  assertEquals(await checkStore(store)(), undefined);
  store.checkWrite = () => Promise.reject(new Error("attempt to write a readonly database"));
  assertEquals(await checkStore(store)(), "the database cannot be written");
});

Deno.test("the check says why a caller is refused, and not when to try again", async () => {
  const store = memoryStore();
  const full = storageError({
    name: "Error",
    message: "database is full",
    sqliteCode: 13, // SQLITE_FULL
  });
  store.checkWrite = () => Promise.reject(full);
  assertEquals(await checkStore(store)(), full.message);
  store.checkWrite = () => Promise.reject(unavailable({ code: "28P01" }));
  assertEquals(
    await checkStore(store)(),
    "cannot use the database: it refuses the role or its password",
  );
});

Deno.test("a read-only database is not ready", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/eval.db`;
    const writable = await openStore({ path });
    assertEquals(await checkStore(writable)(), undefined);
    await writable.close();
    const connection = await openSqlite({ path, mode: "snapshot" });
    const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
    const readOnly = createRunStore(db, { now: Date.now, newId: createRunIds(Date.now) });
    assertEquals(await checkStore(readOnly)(), "the database cannot be written");
    await readOnly.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the service is not ready while a worker cannot be started, and restarts are counted", async () => {
  const workers = createWorkerBoard(silentLogger);
  const config = parseConfig(EvalConfig, {});
  const service = createEvalHandler(
    createEvalDeps(config, { log: silentLogger, store: memoryStore(), workers, observation }),
  );
  const ask = (path: string) => service(new Request(`http://127.0.0.1:8080${path}`));
  const tell = workers.watch("encoder");
  const death = { kind: "died", reason: "no weights", deaths: 2, retryInMs: 500 } as const;

  tell({ ...death, failedStarts: 2 });
  tell({ kind: "restarted" });
  const unready = await ask("/readyz");
  assertEquals(unready.status, 503);
  const reason = "the encoder worker cannot be started: no weights";
  assertEquals((await unready.json()).reasons, { workers: reason });

  tell({ kind: "recovered" });
  const ready = await ask("/readyz");
  assertEquals(ready.status, 200);
  await ready.body?.cancel();
  const metrics = await (await ask("/metrics")).text();
  const counted = metrics.split("\n").filter((line) => line.startsWith("assay_worker_restarts"));
  assertEquals(counted, [
    'assay_worker_restarts_total{worker="long text"} 0',
    'assay_worker_restarts_total{worker="checks"} 0',
    'assay_worker_restarts_total{worker="encoder"} 1',
  ]);
});

Deno.test("concurrent probes share one write, and a later probe writes again", async () => {
  let writes = 0;
  const store = {
    checkWrite: () => Promise.resolve(void writes++),
    checkRead: () => Promise.resolve(),
  };
  const check = checkStore(store);
  await Promise.all(Array.from({ length: 500 }, check));
  assertEquals(writes, 1);
  const hasty = checkStore(store, { sharedMs: 0 });
  await hasty();
  await hasty();
  assertEquals(writes, 3);
});

Deno.test("a service whose stored runs cannot be read is not ready, until they can be", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/eval.db`;
  const store = await openStore({ path });
  const other = new DatabaseSync(path, { timeout: 10_000 });
  try {
    await store.createRun({ request: evaluateRequest(), testName: "t" });
    const check = checkStore(store, { sharedMs: 0 });
    assertEquals(await check(), undefined);
    other.exec("alter table turns rename to moved");
    assertEquals(await check(), "stored runs cannot be read");
    other.exec("alter table moved rename to turns");
    assertEquals(await check(), undefined);
  } finally {
    other.close();
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a deleted or replaced database file is not ready", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path });
    const check = checkStore(store, { sharedMs: 0 });
    assertEquals(await check(), undefined);
    await Deno.rename(path, `${folder}/moved.db`);
    assertEquals(await check(), "the database file was deleted or replaced");
    await Deno.copyFile(`${folder}/moved.db`, path);
    assertEquals(await check(), "the database file was deleted or replaced");
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the service's figures name its workers", async () => {
  await using service = await startServiceProcess("eval");
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const counted = metrics.split("\n").filter((line) => line.startsWith("assay_worker_restarts"));
  assertEquals(counted.sort(), [
    'assay_worker_restarts_total{worker="checks"} 0',
    'assay_worker_restarts_total{worker="encoder"} 0',
    'assay_worker_restarts_total{worker="long text"} 0',
  ]);
});
