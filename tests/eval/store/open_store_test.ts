import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Kysely } from "kysely";
import { DatabaseSync } from "node:sqlite";
import { openReader, openStore } from "../../../eval/store/open_store.ts";
import { createRunIds } from "../../../eval/store/run_record.ts";
import { backUpDatabase } from "../../../eval/store/backup.ts";
import {
  cannotOpen,
  createSqliteDialect,
  openSqlite,
} from "../../../eval/store/sqlite_connection.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { StoreFault } from "../../../eval/store/store_fault.ts";
import { ConfigError } from "../../../shared/service/config.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { withFolder } from "../../fakes/with_folder.ts";

Deno.test("the folder of the database is created, and stored runs are there at the next start", () =>
  withFolder(async (folder) => {
    const path = `${folder}/not/yet/eval.db`;
    const store = await openStore({ path });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    await store.close();
    const again = await openStore({ path });
    assertEquals(await Array.fromAsync(again.turns(id)), [storedTurn([0, 0, 0])]);
    assertEquals(await again.unfinishedRuns(), [id]);
    await again.close();
  }));

Deno.test("a database in use is refused with a clear message, and can be opened once it is closed", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path });
    const error = await assertRejects(() => openStore({ path }), ConfigError);
    assertEquals(
      error.message,
      `cannot open EVAL_DATA=${path}: another process is using it; wait until it has ended, or set another file: ` +
        "EVAL_DATA=other.db assay-eval run …",
    );
    await store.close();
    await (await openStore({ path })).close();
  }));

Deno.test("a database in use is refused under any other name of its file or folder", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/data`);
    const store = await openStore({ path: `${folder}/data/eval.db` });
    await Deno.symlink(`${folder}/data`, `${folder}/linked`);
    await Deno.symlink(`${folder}/data/eval.db`, `${folder}/symbolic.db`);
    for (const path of [`${folder}/linked/eval.db`, `${folder}/symbolic.db`]) {
      const error = await assertRejects(() => openStore({ path }), ConfigError);
      assertStringIncludes(error.message, "another process is using it", path);
    }
    await store.close();
    await (await openStore({ path: `${folder}/symbolic.db` })).close();
    assertEquals((await Deno.lstat(`${folder}/symbolic.db`)).isSymlink, true);
  }));

Deno.test("the target of a symbolic link is created if it does not exist", () =>
  withFolder(async (folder) => {
    await Deno.symlink(`${folder}/data/eval.db`, `${folder}/link.db`);
    await (await openStore({ path: `${folder}/link.db` })).close();
    assertEquals((await Deno.stat(`${folder}/data/eval.db`)).isFile, true);
  }));

Deno.test("a reader can read runs while another process writes them, as they were when it opened", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    const reader = await openReader({ path });
    await store.recordTurn(id, storedTurn([0, 1, 0]));
    assertEquals((await reader.tally(id)).done, 1);
    await reader.close();
    await store.close();
    const late = await openReader({ path });
    assertEquals((await late.getRun(id))?.id, id);
    await late.close();
  }));

Deno.test("a file that is not a database, and a folder, are refused with a clear message", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await Deno.writeTextFile(path, "this is a letter, not a database. ".repeat(100));
    const error = await assertRejects(() => openStore({ path }), ConfigError);
    assertStringIncludes(error.message, "it is not a database");
    const unread = await assertRejects(() => openReader({ path }), ConfigError);
    assertStringIncludes(unread.message, "it is not a database");
    const other = await assertRejects(() => openStore({ path: folder }), ConfigError);
    assertStringIncludes(other.message, `cannot open EVAL_DATA=${folder}: `);
    const missing = await assertRejects(
      () => openReader({ path: `${folder}/none.db` }),
      ConfigError,
    );
    assertStringIncludes(missing.message, "there is no such file");
  }));

Deno.test("a database whose folder cannot be written is refused with a clear message", () => {
  const faults: [sqliteCode: number, message: string][] = [
    [8, "attempt to write a readonly database"],
    [14, "unable to open database file"], // on a file system that is mounted read-only
  ];
  for (const [sqliteCode, message] of faults) {
    const cause = new StoreFault({ name: "Error", message, sqliteCode });
    assertStringIncludes(cannotOpen("eval.db", cause).message, "its folder cannot be written");
  }
});

Deno.test("a damaged database stops the start, and the message says what to do", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await Promise.all(
      Array.from(
        { length: 400 },
        (_, attempt) => store.recordTurn(id, storedTurn([0, attempt, 0])),
      ),
    );
    await store.close();
    const bytes = await Deno.readFile(path);
    const page = 4096 * Math.floor(bytes.length / 4096 / 2);
    bytes.fill(0x55, page, page + 4096);
    await Deno.writeFile(path, bytes);
    const error = await assertRejects(() => openStore({ path }), ConfigError);
    assertStringIncludes(error.message, `cannot open EVAL_DATA=${path}: the file is damaged (`);
    assertStringIncludes(error.message, "see docs/backup.md");
  }));

Deno.test("only their owner can read the files of the database, also old ones", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await (await openStore({ path })).close();
    await Deno.chmod(path, 0o644);
    const store = await openStore({ path });
    await store.createRun({ request: evaluateRequest(), testName: "t" });
    const modes: Record<string, string> = {};
    for await (const { name } of Deno.readDir(folder)) {
      modes[name] = ((await Deno.stat(`${folder}/${name}`)).mode! & 0o777).toString(8);
    }
    assertEquals(modes, {
      "eval.db": "600",
      "eval.db-shm": "600",
      "eval.db-wal": "600",
      "eval.db.lock": "600",
    });
    await store.close();
  }));

Deno.test("a reader sees one snapshot of the database, whatever is deleted meanwhile", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    const reader = await openReader({ path });
    assertEquals((await reader.getRun(id))?.id, id);
    await store.deleteRun(id);
    assertEquals((await Array.fromAsync(reader.turns(id))).length, 1);
    await reader.close();
    await store.close();
  }));

Deno.test("the parts of an upload whose process died are deleted after a day, and nothing else", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const before = await openStore({ path });
    async function* scenarios() {
      yield* evaluateRequest().test_batch;
    }
    const saved = await before.saveDataset("support", scenarios());
    await before.close();
    const left = new DatabaseSync(path);
    const idOf = (moment: number) => createRunIds(() => moment)();
    const old = idOf(Date.now() - 25 * 60 * 60 * 1000);
    const young = idOf(Date.now() - 60_000);
    const insert = left.prepare("insert into dataset_parts values (?, ?, ?)");
    for (const id of [old, young]) for (const part of [0, 1]) insert.run(id, part, "{}\n");
    left.close();
    const store = await openStore({ path });
    const lines = (await Array.fromAsync(store.scenarioLines(saved))).join("");
    assertEquals(lines.trimEnd().split("\n").length, saved.scenarios);
    await store.close();
    const after = new DatabaseSync(path);
    const rows = after.prepare("select distinct content_id from dataset_parts").all();
    after.close();
    const ids = rows.map(({ content_id }) => content_id);
    assertEquals([ids.length, ids.includes(old), ids.includes(young)], [2, false, true]);
  }));

Deno.test("the parts of a broken-off upload are deleted, too, if the clock was far ahead before it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const YEAR = 365 * 24 * 60 * 60 * 1000;
    const ahead = await openStore({ path, now: () => Date.now() + YEAR });
    await ahead.createRun({ request: evaluateRequest(), testName: "t" });
    await ahead.close();
    const right = await openStore({ path });
    async function* scenarios() {
      yield* evaluateRequest().test_batch;
    }
    await right.saveDataset("support", scenarios());
    await right.close();
    const file = new DatabaseSync(path);
    file.exec("delete from dataset_versions"); // as if the process had died before it was stored
    file.close();
    await (await openStore({ path, now: () => Date.now() + YEAR / 2 })).close();
    using after = new DatabaseSync(path);
    assertEquals(after.prepare("select position from dataset_parts").all(), []);
  }));

Deno.test("what cannot be read is refused in words, and reading creates nothing", () =>
  withFolder(async (folder) => {
    const refusals = {
      [`${folder}/none/eval.db`]: "there is no such file",
      [folder]: "it is a folder",
      ":memory:": "a database in memory can be read by its own process only; set a file",
    };
    for (const [path, reason] of Object.entries(refusals)) {
      const { message } = await assertRejects(() => openReader({ path }), ConfigError);
      assertEquals(message, `cannot open EVAL_DATA=${path}: ${reason}`);
    }
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  }));

Deno.test("a run is newer than those of earlier processes, also after the clock was set back", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const made: string[] = [];
    for (const moment of [2_000_000_000_000, 1_999_996_400_000, 1_999_996_400_001]) {
      const store = await openStore({ path, now: () => moment });
      for (let run = 0; run < 2; run++) {
        const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
        made.unshift(id);
      }
      const { runs } = await store.listRuns({ limit: 9 });
      await store.close();
      assertEquals(runs.map(({ id }) => id), made);
    }
  }));

const POSITION = { scenario: 0, attempt: 0, turn: 0 };
const GRADE = { value: 1, label: null, comment: null, correctedReply: null, author: "ann" };

async function* scenarios() {
  yield { id: "s", interactions: [{ id: "1", user_message: "q" }] } as never;
}

/** Everything that a caller may have stored or deleted. */
function changes(store: RunStore, id: string): Record<string, () => Promise<unknown>> {
  const run = { request: evaluateRequest(), testName: "t" };
  return {
    createRun: () => store.createRun(run),
    createGroup: () => store.createGroup({ runs: [{ ...run, name: "a" }] }),
    saveDataset: () => store.saveDataset("d", scenarios()),
    saveGrade: () => store.saveGrade(id, POSITION, GRADE),
    deleteGrade: () => store.deleteGrade(id, { ...POSITION, author: "ann" }),
    describeRun: () => store.describeRun(id, { tags: ["main"] }),
    deleteDataset: () => store.deleteDataset("d"),
    deleteRun: () => store.deleteRun(id),
  };
}

Deno.test("nothing new is stored in a file that was deleted or replaced, and what is there can be read", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const moved = `${folder}/moved.db`;
    const store = await openStore({ path });
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    const all = changes(store, id);
    async function refuseAll(): Promise<void> {
      for (const [name, change] of Object.entries(all)) {
        const { status, code } = await assertRejects(change, AppError, "deleted or replaced", name);
        assertEquals([status, code], [503, "storage_unavailable"], name);
      }
    }

    await Deno.rename(path, moved);
    await refuseAll();
    await Deno.copyFile(moved, path);
    await refuseAll();
    assertEquals((await store.listRuns({ limit: 10 })).runs.map((run) => run.id), [id]);

    await Deno.rename(moved, path);
    for (const change of Object.values(all)) await change();
    await store.close();
  }));

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

Deno.test("a backup has its name once it is complete, so a process that is killed leaves none", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await (await openStore({ path })).close();
    const target = `${folder}/copies/copy.db`;
    await Deno.mkdir(`${folder}/copies`);
    const copying = backUpDatabase({ path, target });
    const begun = await namesIn(`${folder}/copies`);
    assertEquals(begun.filter((name) => name.endsWith(".db")), [], "it is not complete yet");
    await copying;
    assertEquals(await namesIn(`${folder}/copies`), ["copy.db"]);
  }));

Deno.test("a file that takes the name of a backup meanwhile is kept, and the copy removed", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await (await openStore({ path })).close();
    await Deno.mkdir(`${folder}/copies`);
    const target = `${folder}/copies/copy.db`;
    const copying = backUpDatabase({ path, target });
    Deno.writeTextFileSync(target, "kept");
    await assertRejects(() => copying, Error, "there is a file of that name");
    assertEquals(await namesIn(`${folder}/copies`), ["copy.db"]);
    assertEquals(await Deno.readTextFile(target), "kept");
  }));

Deno.test("a backup says why a database cannot be read, as the other commands do", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/letter.db`, "this is a letter. ".repeat(100));
    await Deno.writeTextFile(`${folder}/empty.db`, "");
    const cases = [
      [folder, "it is a folder"],
      [`${folder}/none.db`, "there is no such file"],
      [`${folder}/letter.db`, "it is not a database"],
      [`${folder}/empty.db`, "it has no runs"],
    ] as const;
    for (const [path, reason] of cases) {
      const copying = () => backUpDatabase({ path, target: `${folder}/copy.db` });
      await assertRejects(copying, Error, `cannot open EVAL_DATA=${path}: ${reason}`);
    }
    assertEquals(await namesIn(folder), ["empty.db", "letter.db"]);
  }));

Deno.test("a database of another build is refused, read or written, with what to do, and not changed", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const changes = [
      "update service_state set value = 'other' where name = 'schema'",
      "drop table service_state", // as the first builds left it
    ];
    for (const change of changes) {
      await (await openStore({ path })).close();
      const other = new DatabaseSync(path);
      other.exec(change);
      const tables = () => other.prepare("select name, sql from sqlite_master").all();
      const before = tables();
      for (const open of [openStore, openReader]) {
        const { message } = await assertRejects(() => open({ path }), ConfigError);
        assertStringIncludes(message, `cannot open EVAL_DATA=${path}: its tables are those of`);
        assertStringIncludes(message, "assay-eval export RUN -o RUN.json");
      }
      assertEquals(tables(), before);
      other.close();
      await Deno.remove(path);
    }
  }));

Deno.test("a file without tables has no runs to read", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/empty.db`, "");
    const reading = () => openReader({ path: `${folder}/empty.db` });
    await assertRejects(reading, ConfigError, "it has no runs");
  }));

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

/** Reads in another process: closing a file here would end the locks of the store. */
async function countIn(folder: string, word: string): Promise<number> {
  const { stdout } = await new Deno.Command("grep", { args: ["-rao", word, folder] }).output();
  return new TextDecoder().decode(stdout).split("\n").length - 1;
}

Deno.test("no file has the texts of a run that was deleted, and all of those that were not", () =>
  withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/eval.db` });
    const request = evaluateRequest({ turns: 200 });
    const gone = await store.createRun({ request, testName: "gonegone" });
    const kept = await store.createRun({ request, testName: "keptkept" });
    for (let turn = 0; turn < 200; turn++) {
      const agent_reply = " text".repeat(turn % 10 === 0 ? 5_000 : turn);
      await store.recordTurn(
        gone.id,
        storedTurn([0, 0, turn], { agent_reply: `gonegone${agent_reply}` }),
      );
      await store.recordTurn(
        kept.id,
        storedTurn([0, 0, turn], { agent_reply: `keptkept${agent_reply}` }),
      );
    }
    assert(await countIn(folder, "gonegone") >= 200);
    assertEquals(await store.deleteRun(gone.id), true);
    assertEquals(await countIn(folder, "gonegone"), 0);
    assert(await countIn(folder, "keptkept") >= 200);
    await store.close();
  }));

Deno.test("a second name of the file, which would have a lock of its own, is refused", () =>
  withFolder(async (folder) => {
    const store = await openStore({ path: `${folder}/eval.db` });
    await Deno.link(`${folder}/eval.db`, `${folder}/second.db`);
    const error = await assertRejects(
      () => openStore({ path: `${folder}/second.db` }),
      ConfigError,
    );
    assertStringIncludes(error.message, "it has a second name (a hard link)");
    await store.close();
    await Deno.remove(`${folder}/eval.db`);
    await (await openStore({ path: `${folder}/second.db` })).close();
  }));
