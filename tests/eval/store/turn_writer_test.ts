import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Kysely } from "kysely";
import { setImmediate, setTimeout } from "node:timers/promises";
import { permissionFlags } from "../../../.ci/task_flags.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import { createRunIds } from "../../../eval/store/run_record.ts";
import { createRunStore } from "../../../eval/store/runs/run_store.ts";
import { createTables } from "../../../eval/store/schema/create_tables.ts";
import type { Tables } from "../../../eval/store/schema/schema.ts";
import { createSqliteDialect, openSqlite } from "../../../eval/store/sqlite_connection.ts";
import { createTurnWriter } from "../../../eval/store/turns/turn_writer.ts";
import { ConfigError } from "../../../shared/service/config.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { until } from "../../fakes/until.ts";
import { withFolder } from "../../fakes/with_folder.ts";

/** A disk whose flushes the test ends. */
function slowDisk({ intervalMs = 0 } = {}) {
  const flushes: { turns: number[]; finish: (error?: Error) => void }[] = [];
  return {
    flushes,
    writer: createTurnWriter((turns) =>
      new Promise((resolve, reject) => {
        const finish = (error?: Error) => error ? reject(error) : resolve(turns.map(() => true));
        flushes.push({ turns: turns.map(({ turn }) => turn), finish });
      }), { intervalMs }),
  };
}

/** Runs everything that does not wait for the disk. */
async function settle(): Promise<void> {
  await setTimeout(0);
  await setImmediate();
}

Deno.test("turns that finish together share a commit, and those that finish during it share the next", async () => {
  const { flushes, writer } = slowDisk();
  const write = (turn: number) => writer.write("run", storedTurn([0, 0, turn]));
  const writes = [0, 1].map(write);
  await settle();
  assertEquals(flushes.map(({ turns }) => turns), [[0, 1]]);
  writes.push(write(2));
  await settle();
  writes.push(write(3));
  await settle();
  assertEquals(flushes.length, 1, "a commit was begun while another was under way");
  flushes[0]!.finish();
  await settle();
  assertEquals(flushes.map(({ turns }) => turns), [[0, 1], [2, 3]]);
  flushes[1]!.finish();
  await Promise.all(writes);
});

Deno.test("a write does not resolve before the commit of its turn is done", async () => {
  const { flushes, writer } = slowDisk();
  const acknowledged: number[] = [];
  for (const turn of [0, 1]) {
    writer.write("run", storedTurn([0, 0, turn])).then(() => acknowledged.push(turn));
    await settle();
  }
  assertEquals(acknowledged, []);
  flushes[0]!.finish();
  await settle();
  assertEquals(acknowledged, [0]);
  flushes[1]!.finish();
  await settle();
  assertEquals(acknowledged, [0, 1]);
});

Deno.test("a commit that fails rejects its own turns only", async () => {
  const { flushes, writer } = slowDisk();
  const first = assertRejects(() => writer.write("run", storedTurn([0, 0, 0])), Error, "no room");
  await settle();
  flushes[0]!.finish(new Error("no room"));
  await first;
  const second = writer.write("run", storedTurn([0, 0, 1]));
  await settle();
  flushes[1]!.finish();
  await second;
});

Deno.test("after a commit of several turns the next waits until there are enough of them", async () => {
  const { flushes, writer } = slowDisk({ intervalMs: 60_000 });
  const write = (turn: number) => writer.write("run", storedTurn([0, 0, turn]));
  const writes = [0, 1].map(write);
  await settle();
  flushes[0]!.finish();
  await Promise.all(writes);
  writes.push(...[2, 3, 4, 5, 6, 7, 8].map(write));
  await settle();
  assertEquals(flushes.length, 1, "a commit was begun with seven turns");
  writes.push(write(9));
  await settle();
  assertEquals(flushes[1]?.turns, [2, 3, 4, 5, 6, 7, 8, 9]);
  flushes[1]!.finish();
  await Promise.all(writes);
});

Deno.test("if there are never enough of them, they are committed after a moment", async () => {
  const { flushes, writer } = slowDisk({ intervalMs: 5 });
  const write = async (turn: number) => {
    const written = writer.write("run", storedTurn([0, 0, turn]));
    await until(() => flushes.some(({ turns }) => turns.includes(turn)));
    flushes.at(-1)!.finish();
    await written;
  };
  await Promise.all([0, 1].map(write));
  await write(2);
  assertEquals(flushes.map(({ turns }) => turns), [[0, 1], [2]]);
});

Deno.test("turns that come one at a time never wait for others", async () => {
  const { flushes, writer } = slowDisk({ intervalMs: 60_000 });
  for (const turn of [0, 1, 2]) {
    const written = writer.write("run", storedTurn([0, 0, turn]));
    await settle();
    flushes[turn]!.finish();
    await written;
  }
  assertEquals(flushes.map(({ turns }) => turns), [[0], [1], [2]]);
});

type OnCommit = (commit: () => Promise<unknown>) => Promise<unknown>;

/** A store whose next commit the test decides. */
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
  await createTables(db);
  const store = createRunStore(db, { now: Date.now, newId: createRunIds(Date.now) });
  return { store, db, atCommit: (act: OnCommit) => onCommit = act };
}

const lost = () => Promise.reject(new Error("connection lost"));
const refused: OnCommit = lost;
const unconfirmed: OnCommit = (commit) => commit().then(lost);

async function* batch() {
  yield* evaluateRequest({ scenarios: 2 }).test_batch;
}

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

const ROOT = new URL("../../../", import.meta.url);

/** Does what `eval/main.ts` does, and then tries to write. */
const SCRIPT = `
import { giveUpWriting } from "${new URL("eval/store/sqlite_connection.ts", ROOT)}";
import { openStore } from "${new URL("eval/store/open_store.ts", ROOT)}";
const store = await openStore({ path: Deno.args[0] });
await giveUpWriting();
const attempts = {
  "write a file": () => Deno.writeTextFileSync(Deno.args[1], "changed"),
  "delete the database": () => Deno.removeSync(Deno.args[0]),
  "start a program": () => new Deno.Command("true").outputSync(),
};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    attempt();
    console.log(name);
  } catch (error) {
    console.log(name + ": " + error.name);
  }
}
console.log("runs: " + (await store.listRuns({ limit: 1 })).runs.length);
await store.close();
`;

Deno.test("with the service's permissions only the database's worker can write files", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const script = `${folder}/script.ts`;
    await Deno.writeTextFile(script, SCRIPT);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--no-check",
        `--config=${new URL("deno.json", ROOT).pathname}`,
        ...permissionFlags("eval"),
        script,
        `${folder}/data/eval.db`,
        script,
      ],
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assertEquals(lines, [
      "write a file: NotCapable",
      "delete the database: NotCapable",
      "start a program: NotCapable",
      "runs: 0",
    ], new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a disk without room for the tables is refused with a clear message", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const error = await assertRejects(() => openStore({ path, maxPages: 2 }), ConfigError);
    assertStringIncludes(error.message, "the disk is full or cannot be written");
  }));

Deno.test("a run is refused with a clear message on a full disk, and nothing of it is stored", () =>
  withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/eval.db`, maxPages: 40 });
    const small = await store.createRun({ request: evaluateRequest(), testName: "small" });
    const request = evaluateRequest({ scenarios: 5_000 });
    const error = await assertRejects(
      () => store.createRun({ request, testName: "large", parentId: small.id }),
      AppError,
    );
    assertEquals([error.status, error.code], [507, "storage_full"]);
    const { runs } = await store.listRuns({ limit: 10 });
    assertEquals(runs.map((run) => run.testName), ["small"]);
    await store.close();
  }));

Deno.test("a dataset is refused on a full disk, and the message does not speak of a run", () =>
  withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/eval.db`, maxPages: 40 });
    const scenarios = ReadableStream.from(evaluateRequest({ scenarios: 5_000 }).test_batch);
    const error = await assertRejects(() => store.saveDataset("support", scenarios), AppError);
    assertEquals([error.status, error.code], [507, "storage_full"]);
    assertStringIncludes(error.message, "cannot write to the database: the disk");
    await store.close();
  }));

Deno.test("turns are refused on a full disk, and those stored before stay", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path, maxPages: 60 });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    let stored = 0;
    const error = await assertRejects(async () => {
      for (; stored < 1000; stored++) {
        await store.recordTurn(id, storedTurn([stored, 0, 0], { agent_reply: "x".repeat(3000) }));
      }
    }, AppError);
    assertEquals(error.code, "storage_full");
    await store.close();
    const later = await openStore({ path });
    assertEquals((await Array.fromAsync(later.turns(id))).length, stored);
    await later.recordTurn(id, storedTurn([stored, 0, 0]));
    assertEquals((await later.tally(id)).done, stored + 1);
    await later.close();
  }));
