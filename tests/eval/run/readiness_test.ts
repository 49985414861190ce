import { assertEquals, assertRejects } from "@std/assert";
import { Kysely } from "kysely";
import { DatabaseSync } from "node:sqlite";
import { EvalConfig } from "../../../eval/config.ts";
import { createEvalHandler } from "../../../eval/handler.ts";
import { checkStore } from "../../../eval/run/manager/readiness.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import { createReadCheck } from "../../../eval/store/runs/read_check.ts";
import { createRunIds } from "../../../eval/store/runs/run_id.ts";
import { createRunStore } from "../../../eval/store/runs/run_store.ts";
import type { Tables } from "../../../eval/store/schema/schema.ts";
import { openSqlite } from "../../../eval/store/sqlite/sqlite_connection.ts";
import { createSqliteDialect } from "../../../eval/store/sqlite/sqlite_dialect.ts";
import { createEvalDeps } from "../../../eval/wiring.ts";
import { storageError, StoreFault } from "../../../eval/store/store_fault.ts";
import { SQLITE_CORRUPT, SQLITE_FULL } from "../../../eval/store/sqlite/sqlite_codes.ts";
import { createWorkerBoard } from "../../../shared/background/worker_board.ts";
import { parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { unavailable } from "../../../shared/postgres/fault.ts";
import * as observation from "../../../eval/endpoint/observation.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { startServiceProcess } from "../../fakes/service_process.ts";
import { evaluateRequest } from "../../fakes/stored_runs.ts";

/** SQLite's code for an error in the SQL. */
const SQLITE_ERROR = 1;

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
    sqliteCode: SQLITE_FULL,
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

Deno.test("a read that found the file damaged is tried again by the check, and nothing else is", async () => {
  const noted = createReadCheck();
  let answer: () => Promise<unknown> = () => Promise.resolve({ rows: [] });
  const db = { executeQuery: () => answer() } as unknown as Kysely<Tables>;
  const reader = { listRuns: () => Promise.resolve({ runs: [], next: null }) } as never;
  const query = { sql: "select 1" } as never;
  const fail = (sqliteCode: number) => {
    const error = new StoreFault({ name: "Error", message: "malformed", sqliteCode });
    answer = () => Promise.reject(error);
    noted.note({ level: "error", error, query, queryDurationMillis: 1 });
  };
  fail(SQLITE_ERROR); // a caller may cause it
  await noted.check(db, reader);
  fail(SQLITE_CORRUPT);
  await assertRejects(() => noted.check(db, reader), StoreFault);
  answer = () => Promise.resolve({ rows: [] });
  await noted.check(db, reader);
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
