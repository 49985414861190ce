import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Kysely } from "kysely";
import { DatabaseSync } from "node:sqlite";
import { ConfigError } from "../../../shared/config/config.ts";
import { migrate } from "../../../eval/store/schema/migrate.ts";
import { openReader, openStore } from "../../../eval/store/open_store.ts";
import type { Tables } from "../../../eval/store/schema/schema.ts";
import { createSqliteDialect, openSqlite } from "../../../eval/store/sqlite/sqlite_connection.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";
import { withFolder } from "../../fakes/with_folder.ts";

Deno.test("a new database has the tables of one that was migrated statement by statement", () =>
  withFolder(async (folder) => {
    const [created, migrated] = [`${folder}/created.db`, `${folder}/migrated.db`];
    await (await openStore({ path: created })).close();
    const connection = await openSqlite({ path: migrated, mode: "write" });
    const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
    await migrate(db);
    await db.destroy();

    assertEquals(readTables(created), readTables(migrated));
  }));

/** How the tables were created, and which migrations are noted as performed. */
function readTables(path: string) {
  using database = new DatabaseSync(path, { readOnly: true });
  return {
    tables: database.prepare("select name, sql from sqlite_master order by name").all(),
    migrations: database.prepare("select name from kysely_migration order by name").all(),
    locks: database.prepare("select * from kysely_migration_lock").all(),
  };
}

Deno.test("tables of a later version are refused with a clear message, and not changed", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await (await openStore({ path })).close();
    const later = new DatabaseSync(path);
    later.exec("insert into kysely_migration values ('9999_later', '2099-01-01')");
    later.close();
    const error = await assertRejects(() => openStore({ path }), ConfigError);
    assertStringIncludes(error.message, `cannot open EVAL_DATA=${path}: `);
    assertStringIncludes(
      error.message,
      "its tables are of a later version (9999_later); start that",
    );
  }));

Deno.test("a database of an earlier version keeps its keys and loses the queries in it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const before = await openStore({ path });
    for (let runs = 0; runs < 5; runs++) {
      await before.createRun({ request: evaluateRequest(), testName: "t" });
    }
    const { id } = await before.createRun({ request: evaluateRequest(), testName: "t" });
    await before.close();
    const old = new DatabaseSync(path);
    old.exec(`
      create table idempotency_keys (idempotency_key text primary key, body_hash text not null,
        run_id text not null, created_at bigint not null);
      insert into idempotency_keys values ('mine', 'h', '${id}', ${Date.now()});
      drop table caller_keys;
      drop table pending_replies;
      drop table service_state;
      drop table run_tags;
      drop table grades;
      drop table datasets;
      drop table dataset_versions;
      drop table dataset_parts;
      drop index runs_by_group;
      alter table runs drop column group_id;
      alter table runs drop column group_index;
      alter table runs drop column group_name;
      alter table runs drop column query_removed;
      alter table runs drop column dataset;
      alter table runs drop column dataset_name;
      alter table runs drop column gate;
      alter table runs drop column overall;
      alter table runs drop column headline;
      alter table runs drop column summary;
      alter table turns drop column facets;
      update runs set endpoint = 'https://model.example/v1?key=hidden',
        request = json_set(request, '$.endpoint', 'https://model.example/v1?key=hidden');
      delete from kysely_migration where name >= '0005';
    `);
    old.close();
    const store = await openStore({ path });
    const known = await store.findByKey({ caller: "a digest", key: "mine", bodyHash: "h" });
    assertEquals(known, { outcome: "known", id });
    const run = (await store.getRun(id))!;
    assertEquals([run.request.endpoint, run.queryRemoved], ["https://model.example/v1", true]);
    assertEquals(run.request.test_batch, evaluateRequest().test_batch);
    await store.close();
    const bytes = new TextDecoder("latin1").decode(await Deno.readFile(path));
    assertEquals(bytes.includes("key=hidden"), false, "the query is left in the file");
  }));

Deno.test("turns of an earlier version can be sorted and filtered after the migration", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const before = await openStore({ path });
    const { id } = await before.createRun({
      request: evaluateRequest({ scenarios: 250 }),
      testName: "t",
    });
    await Promise.all(
      Array.from({ length: 250 }, (_, n) =>
        before.recordTurn(
          id,
          storedTurn([n, 0, 0], {
            scores: { overall: 1, bleu: n / 250 },
            reference_metadata: { intent: n === 7 ? "refund" : "other" },
          }),
        )),
    );
    await before.close();
    const old = new DatabaseSync(path);
    old.exec(`
      alter table runs drop column overall;
      alter table runs drop column headline;
      alter table runs drop column summary;
      alter table turns drop column facets;
      drop table grades;
      drop table datasets;
      drop table dataset_versions;
      drop table dataset_parts;
      alter table runs drop column dataset_name;
      drop index runs_by_group;
      alter table runs drop column group_id;
      alter table runs drop column group_index;
      alter table runs drop column group_name;
      delete from kysely_migration where name >= '0010';
    `);
    old.close();
    const store = await openStore({ path });
    const { turns } = await store.queryTurns(id, {
      filter: {},
      sort: { by: "score", name: "bleu", isDescending: true },
      limit: 2,
      withResults: false,
    });
    assertEquals(turns.map(({ scenario }) => scenario), [249, 248]);
    const label = { key: "intent", expected: "refund" };
    assertEquals(await store.countTurns(id, { label }), 1);
    await store.close();
  }));

Deno.test("a reader of tables that another process has not updated yet says what to do", () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    const store = await openStore({ path });
    const old = new DatabaseSync(path);
    old.exec("delete from kysely_migration where name >= '0019'");
    old.close();
    const error = await assertRejects(() => openReader({ path }), ConfigError);
    assertStringIncludes(error.message, "another process is using it; stop that process");
    assertStringIncludes(error.message, "Its tables are of an earlier version");
    await store.close();
  }));
