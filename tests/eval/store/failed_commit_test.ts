import { assertEquals, assertRejects } from "@std/assert";
import { Kysely } from "kysely";
import { migrate } from "../../../eval/store/schema/migrate.ts";
import { createRunIds } from "../../../eval/store/runs/run_id.ts";
import { createRunStore } from "../../../eval/store/runs/run_store.ts";
import type { Tables } from "../../../eval/store/schema/schema.ts";
import { openSqlite } from "../../../eval/store/sqlite/sqlite_connection.ts";
import { createSqliteDialect } from "../../../eval/store/sqlite/sqlite_dialect.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { newRun } from "./store_case.ts";
import { until } from "../../fakes/until.ts";

type OnCommit = (commit: () => Promise<unknown>) => Promise<unknown>;

/** A store whose next commit does what the test says. */
async function openWithCommits() {
  const connection = await openSqlite({ path: ":memory:", mode: "write" });
  let onCommit: OnCommit | undefined;
  const db = new Kysely<Tables>({
    dialect: createSqliteDialect({
      ...connection,
      async query(sql, parameters) {
        const execute = () => connection.query(sql, parameters);
        if (sql !== "commit" || !onCommit) return await execute();
        const act = onCommit;
        onCommit = undefined;
        await act(execute);
        return { rows: [], changes: 0 };
      },
    }),
  });
  await migrate(db);
  const store = createRunStore(db, { now: Date.now, newId: createRunIds(Date.now) });
  return { store, db, atCommit: (act: OnCommit) => onCommit = act };
}

const lost = () => Promise.reject(new Error("connection lost"));
const refused: OnCommit = lost;
const unconfirmed: OnCommit = (commit) => commit().then(lost);

const moment = () => new Promise((resolve) => setTimeout(resolve, 5));

async function* batch() {
  yield* evaluateRequest({ scenarios: 2 }).test_batch;
}

Deno.test("a run that could not be deleted has its turns after its last reader has left", async () => {
  const { store, atCommit } = await openWithCommits();
  const id = await newRun(store);
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  {
    using _kept = store.keep(id);
    atCommit(refused);
    await assertRejects(() => store.deleteRun(id), Error, "connection lost");
  }
  await moment();
  assertEquals([(await store.getRun(id))?.id, (await store.tally(id)).done], [id, 1]);
  await store.close();
});

Deno.test("the turns of a run whose deletion was not confirmed go after its last reader", async () => {
  const { store, atCommit } = await openWithCommits();
  const id = await newRun(store);
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  {
    using _kept = store.keep(id);
    atCommit(unconfirmed);
    await assertRejects(() => store.deleteRun(id), Error, "connection lost");
    assertEquals([await store.getRun(id), (await store.tally(id)).done], [undefined, 1]);
  }
  await until(async () => (await store.tally(id)).done === 0);
  await store.close();
});

Deno.test("the turns of a run go with it if its last reader leaves during the deletion", async () => {
  const { store, atCommit } = await openWithCommits();
  const id = await newRun(store);
  await store.recordTurn(id, storedTurn([0, 0, 0]));
  const kept = store.keep(id);
  atCommit((commit) => {
    kept[Symbol.dispose]();
    return commit();
  });
  assertEquals(await store.deleteRun(id), true);
  await until(async () => (await store.tally(id)).done === 0);
  await store.close();
});

Deno.test("a dataset whose commit was not confirmed can be read, and written again", async () => {
  const { store, atCommit } = await openWithCommits();
  atCommit(unconfirmed);
  await assertRejects(() => store.saveDataset("support", batch()), Error, "connection lost");
  const version = (await store.latestVersion("support"))!;
  const lines = (await Array.fromAsync(store.scenarioLines(version))).join("");
  assertEquals(lines.trimEnd().split("\n").length, 2);
  const again = await store.saveDataset("support", batch());
  assertEquals([again.version, again.created], [version.version, false]);
  assertEquals((await Array.fromAsync(store.scenarioLines(version))).join(""), lines);
  await store.close();
});

Deno.test("a dataset that could not be written leaves no parts", async () => {
  const { store, db, atCommit } = await openWithCommits();
  atCommit(refused);
  await assertRejects(() => store.saveDataset("support", batch()), Error, "connection lost");
  assertEquals(await db.selectFrom("dataset_parts").select("content_id").execute(), []);
  await store.close();
});

Deno.test("a version without its scenarios gets them from the next upload of the same content", async () => {
  const { store, db } = await openWithCommits();
  const first = await store.saveDataset("support", batch());
  await db.deleteFrom("dataset_parts").execute();
  await assertRejects(() => Array.fromAsync(store.scenarioLines(first)), Error, "cannot read");
  const again = await store.saveDataset("support", batch());
  assertEquals([again.version, again.created], [first.version, true]);
  assertEquals((await store.datasetVersions("support", 10)).length, 1);
  assertEquals((await Array.fromAsync(store.scenarioLines(first))).length, 1);
  await store.close();
});

Deno.test("what belongs to a run whose commit was not confirmed is not dropped", async () => {
  const { db, atCommit } = await openWithCommits();
  let dropped = 0;
  const store = createRunStore(db, {
    now: Date.now,
    newId: createRunIds(Date.now),
    prepareRun: () =>
      Promise.resolve({
        store: () => Promise.resolve(),
        drop: () => Promise.resolve(void dropped++),
      }),
  });
  const idempotency = { caller: "", key: "k", bodyHash: "h" };
  const run = { request: evaluateRequest(), testName: "t", idempotency };
  atCommit(unconfirmed);
  await assertRejects(() => store.createRun(run), Error, "connection lost");
  assertEquals([(await store.unfinishedRuns()).length, dropped], [1, 0]);
  assertEquals([(await store.createRun(run)).outcome, dropped], ["known", 1]);
  await store.close();
});
