import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigError } from "../../../../shared/service/config.ts";
import { AppError } from "../../../../shared/service/errors.ts";
import { createPostgresPool } from "../../../../shared/service/postgres/pool.ts";
import { openJobs } from "../../../../eval/run/sharing/jobs.ts";
import { openPostgres, openPostgresReader } from "../../../../eval/store/open_postgres.ts";
import { freePort } from "../../../fakes/free_port.ts";
import { openSharedStore, postgresBin, startPostgres } from "../../../fakes/postgres_server.ts";
import { evaluateRequest, storedTurn } from "../../../fakes/stored_runs.ts";
import { until } from "../../../fakes/until.ts";
// connections to PostgreSQL outlive a test
import { test } from "../../../fakes/leaky.ts";

const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());

const newRun = { request: evaluateRequest({ attempts: 300 }), testName: "t" };

test({
  name: "two processes that start at once on an empty database both open it",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const opened = await Promise.all([openSharedStore(address), openSharedStore(address)]);
    const { id } = await opened[0]!.store.createRun(newRun);
    assertEquals((await opened[1]!.store.getRun(id))?.id, id);
    for (const { store } of opened) await store.close();
  },
});

test({
  name: "runs of several processes are in order, also after a run of one whose clock was ahead",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    let moment = 2_000_003_600_000;
    const open = () => openSharedStore(address, { now: () => moment++ });
    await using ahead = (await open()).store;
    const made = [(await ahead.createRun(newRun)).id];
    moment = 2_000_000_000_000;
    await using one = (await open()).store;
    await using other = (await open()).store;
    for (const store of [one, one, one, other, one]) made.push((await store.createRun(newRun)).id);
    const { runs } = await one.listRuns({ limit: 9 });
    const [first, ...later] = made;
    assertEquals(runs.map(({ id }) => id), [first!, ...later.reverse()]);
  },
});

test({
  name: "a role that may not create the schema of the queue stops the start in words",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const name = new URL(address).pathname.slice(1);
    const owner = await createPostgresPool({ address, max: 1, name: "test" });
    await owner.query({ text: "create role guest login password 'hidden'" });
    await owner.query({ text: "grant all on schema public to guest" });
    await owner.end();
    const guest = new URL(address);
    guest.username = "guest";
    guest.password = "hidden";
    const error = await assertRejects(
      () =>
        openPostgres({
          address: guest.href,
          maxConnections: 2,
          async openJobs(pool) {
            const options = { concurrency: 1, isExclusive: false, onError() {} };
            return (await openJobs(pool, options)).list;
          },
        }),
      ConfigError,
      `permission denied for database ${name}`,
    );
    assert(!error.message.includes("hidden"));
  },
});

test({
  name: "a database that cannot be opened for reading is named, without its password",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const cases = [
      [{ pathname: "/nowhere" }, '/nowhere: database "nowhere" does not exist'],
      [{ password: "wrong" }, "password authentication failed"],
      [{ port: String(freePort()) }, "ECONNREFUSED"],
    ] as const;
    for (const [change, reason] of cases) {
      const other = Object.assign(new URL(address), change);
      const error = await assertRejects(
        () => openPostgresReader(other.href),
        ConfigError,
        `cannot open EVAL_DATA=postgres://${other.host}/`,
      );
      assertStringIncludes(error.message, reason);
      assert(!error.message.includes(other.password));
    }
  },
});

test({
  name: "turns that two processes store get distinct numbers, and no number becomes visible late",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const [a, b] = await Promise.all([openSharedStore(address), openSharedStore(address)]);
    const { id } = await a.store.createRun(newRun);
    const seen: number[] = [];
    const reading = until(async () => {
      const page = await a.store.turnsAfter(id, { seq: seen.at(-1) ?? 0, limit: 7 });
      seen.push(...page.map(({ seq }) => seq));
      return seen.length >= 300;
    }, { what: () => `300 turns, only ${seen.length} became visible` });
    const outcomes = await Promise.all(Array.from({ length: 300 }, (_, attempt) => {
      const turn = storedTurn([0, attempt, 0]);
      // Every tenth is stored by both.
      const writers = attempt % 10 === 0 ? [a, b] : [attempt % 2 === 0 ? a : b];
      return Promise.all(writers.map(({ store }) => store.recordTurn(id, turn)));
    }));
    await reading;
    for (const outcome of outcomes) {
      assertEquals(outcome.filter((one) => one === "stored").length, 1);
    }
    assertEquals(new Set(seen).size, 300);
    for (const { store } of [a, b]) await store.close();
  },
});

test({
  name: "a turn that comes after the end of its run is not stored, and the tally stays right",
  ignore,
  async fn() {
    const { store } = await openSharedStore(await server.createDatabase());
    const { id } = await store.createRun(newRun);
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    await store.setStatus(id, { status: "cancelled", tally: "count", from: ["running"] });
    assertEquals(await store.recordTurn(id, storedTurn([0, 1, 0])), "taken");
    assertEquals((await store.getRun(id))?.tally?.done, (await store.tally(id)).done);
    await store.close();
  },
});

test({
  name: "a run is finished when each of its turns is stored, however often that was tried",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const [a, b] = await Promise.all([openSharedStore(address), openSharedStore(address)]);
    const { id } = await a.store.createRun({ ...newRun, request: evaluateRequest({ turns: 2 }) });
    const stored = [];
    for (const { store } of [a, b]) stored.push(await store.recordTurn(id, storedTurn([0, 0, 0])));
    assertEquals(stored, ["stored", "taken"]);
    assertEquals(await a.store.isFinished(id), false);
    await b.store.recordTurn(id, storedTurn([0, 0, 1]));
    assertEquals(await a.store.isFinished(id), true);
    for (const { store } of [a, b]) await store.close();
  },
});

test({
  name: "processes are told of turns, and that a run was created, is complete or has ended",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const [a, b] = await Promise.all([openSharedStore(address), openSharedStore(address)]);
    const heard: string[] = [];
    let next = Promise.withResolvers<void>();
    b.news.listen((runId, kind) => {
      heard.push(runId === undefined ? "connected" : kind);
      next.resolve();
      next = Promise.withResolvers();
    });
    await next.promise;
    const hear = async (work: Promise<unknown>) => {
      const { promise } = next;
      await work;
      await promise;
    };
    let id = "";
    const request = evaluateRequest({ turns: 2 });
    await hear(a.store.createRun({ ...newRun, request }).then((run) => id = run.id));
    for (const turn of [0, 1]) await hear(a.store.recordTurn(id, storedTurn([0, 0, turn])));
    await hear(a.store.setStatus(id, { status: "completed", tally: "count" }));
    assertEquals(heard, ["connected", "state", "turns", "state", "state"]);
    for (const { store } of [a, b]) await store.close();
  },
});

test({
  name: "of two processes that use a key at the same moment one creates the run",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const opened = await Promise.all([openSharedStore(address), openSharedStore(address)]);
    for (let round = 0; round < 10; round++) {
      const idempotency = { caller: "", key: `k${round}`, bodyHash: "h" };
      const created = await Promise.all(
        opened.map(({ store }) => store.createRun({ ...newRun, idempotency })),
      );
      assertEquals(created.map(({ outcome }) => outcome).toSorted(), ["created", "known"]);
      assertEquals(created[0]!.id, created[1]!.id);
    }
    assertEquals((await opened[0]!.store.listRuns({ limit: 50 })).runs.length, 10);
    for (const { store } of opened) await store.close();
  },
});

test({
  name: "a database of another build is refused, read or written, with what to do",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const { store, pool } = await openSharedStore(address);
    await pool.query({ text: "update service_state set value = 'other' where name = 'schema'" });
    await store.close();
    for (const open of [openSharedStore, openPostgresReader]) {
      const { message } = await assertRejects(() => open(address), ConfigError);
      assertStringIncludes(message, "its tables are those of another build; export its runs");
    }
  },
});

test({
  name: "a database that cannot be opened is named without its password",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const { password } = new URL(address);
    const wrong = new URL(address);
    wrong.password = "another-secret";
    const unknown = new URL(address);
    unknown.pathname = "/no_such_database";
    const closed = new URL(address);
    closed.port = "1";
    for (const url of [wrong, unknown, closed]) {
      const error = await assertRejects(() => openSharedStore(url.href), ConfigError);
      assert(error.message.startsWith("cannot open EVAL_DATA=postgres://127.0.0.1:"));
      for (const secret of [password, "another-secret", "assay:"]) {
        assert(!error.message.includes(secret), error.message);
      }
    }
  },
});

test({
  name: "a server that is down is 503 storage_unavailable, and the store works again afterwards",
  ignore,
  async fn() {
    const { store } = await openSharedStore(await server.createDatabase());
    const { id } = await store.createRun(newRun);
    await server.stop();
    const error = await assertRejects(() => store.getRun(id), AppError);
    assertEquals([error.status, error.code], [503, "storage_unavailable"]);
    await assertRejects(() => store.recordTurn(id, storedTurn([0, 0, 0])), AppError);
    await server.start();
    assertEquals((await store.getRun(id))?.id, id);
    assertEquals(await store.recordTurn(id, storedTurn([0, 0, 0])), "stored");
    await store.close();
  },
});

test({
  name: "a reader makes the tables that the database does not have yet, and reads",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const reader = await openPostgresReader(address);
    assertEquals((await reader.listRuns({ limit: 1 })).runs, []);
    await reader.close();
  },
});
