import { assertEquals, assertRejects } from "@std/assert";
import { Kysely } from "kysely";
import { openStore } from "../../../eval/store/open_store.ts";
import { openSqlite } from "../../../eval/store/sqlite/sqlite_connection.ts";
import { createSqliteDialect } from "../../../eval/store/sqlite/sqlite_dialect.ts";
import { startSqliteWorker } from "../../../eval/store/sqlite/sqlite_thread.ts";
import { isStorageFault, StoreFault } from "../../../eval/store/store_fault.ts";
import { AppError } from "../../../shared/errors.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";

/** Starts real workers, and kills the one that was started last. */
function mortalWorkers(mayStart: () => boolean = () => true) {
  const started: Worker[] = [];
  const kill = (worker = started.at(-1)!) => {
    worker.terminate();
    worker.dispatchEvent(new ErrorEvent("error", { message: "killed", cancelable: true }));
  };
  return {
    started,
    kill,
    /** Kills it during the next call. */
    killSoon() {
      const worker = started.at(-1)!;
      worker.postMessage = () => kill(worker);
    },
    start(path: string): Worker {
      if (!mayStart()) throw new Deno.errors.NotCapable("cannot escalate permissions");
      const worker = startSqliteWorker(path);
      started.push(worker);
      return worker;
    },
  };
}

async function withFile(test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(`${folder}/eval.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("if a store's worker dies, its current call fails, and later calls find what was stored", () =>
  withFile(async (path) => {
    const { start, killSoon } = mortalWorkers();
    const events: string[] = [];
    const store = await openStore({ path, start, onEvent: ({ kind }) => events.push(kind) });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    killSoon();
    const error = await assertRejects(() => store.tally(id), AppError, "its worker died (killed)");
    assertEquals(isStorageFault(error), true); // so a run waits for the database
    await store.recordTurn(id, storedTurn([0, 0, 1]));
    assertEquals((await store.tally(id)).done, 2);
    assertEquals(events, ["died", "restarted", "recovered"]);
    await store.close();
  }));

Deno.test("the rest of a transaction whose worker died is refused, and the next transaction works", () =>
  withFile(async (path) => {
    const { start, kill } = mortalWorkers();
    const connection = await openSqlite({ path, mode: "write", start });
    const run = (sql: string) => connection.query(sql, []);
    await run("create table t (a)");
    await run("begin immediate");
    await run("insert into t values (1)");
    kill();
    await assertRejects(() => run("insert into t values (2)"), AppError);
    await run("rollback");
    await run("begin immediate");
    await run("insert into t values (3)");
    await run("commit");
    const { rows } = await run("select a from t");
    assertEquals(rows.map((row) => ({ ...row as object })), [{ a: 3 }]);
    await connection.close();
  }));

Deno.test("a process that cannot start workers any more uses a spare one, if there is one", () =>
  withFile(async (path) => {
    let mayStart = true;
    const { start, started, kill } = mortalWorkers(() => mayStart);
    const connection = await openSqlite({ path, mode: "write", start, spares: 1 });
    await connection.query("create table t (a)", []);
    mayStart = false;
    kill(started[0]);
    assertEquals((await connection.query("select * from t", [])).rows, []);
    kill(started[1]);
    await assertRejects(() => connection.query("select * from t", []), Error, "permissions");
    await connection.close();
  }));

Deno.test("a database in memory is closed when its worker dies, and its calls say so", async () => {
  const { start, kill } = mortalWorkers();
  const connection = await openSqlite({ path: ":memory:", mode: "write", start });
  await connection.query("create table t (a)", []);
  kill();
  await assertRejects(
    () => connection.query("select * from t", []),
    StoreFault,
    "the database is closed: its worker died",
  );
  await connection.close();
});

Deno.test("two transactions at once come one after the other on the one connection", async () => {
  const connection = await openSqlite({ path: ":memory:", mode: "write" });
  const db = new Kysely<{ steps: { name: string } }>({ dialect: createSqliteDialect(connection) });
  await db.schema.createTable("steps").addColumn("name", "text").execute();
  const perform = (name: string) =>
    db.transaction().execute(async (transaction) => {
      for (const step of ["begin", "end"]) {
        await transaction.insertInto("steps").values({ name: `${name} ${step}` }).execute();
        await new Promise((resolve) => setTimeout(resolve)); // the others have their chance
      }
      if (name === "b") throw new Error("rolled back");
    });
  const alone = db.insertInto("steps").values({ name: "alone" });
  const all = [perform("a"), perform("b"), alone.execute(), perform("c")];
  const outcomes = await Promise.allSettled(all);
  assertEquals(outcomes.map(({ status }) => status === "fulfilled"), [true, false, true, true]);
  const rows = await db.selectFrom("steps").select("name").execute();
  assertEquals(rows.map(({ name }) => name), ["a begin", "a end", "alone", "c begin", "c end"]);
  await db.destroy();
});
