import { assertEquals } from "@std/assert";
import { Kysely } from "kysely";
import { checkStore } from "../../eval/readiness.ts";
import { openStore } from "../../eval/store/open_store.ts";
import { createRunIds } from "../../eval/store/run_id.ts";
import { createRunStore } from "../../eval/store/run_store.ts";
import type { Tables } from "../../eval/store/schema.ts";
import { openSqlite } from "../../eval/store/sqlite_connection.ts";
import { createSqliteDialect } from "../../eval/store/sqlite_dialect.ts";
import { memoryStore } from "../fakes/memory_store.ts";

Deno.test("a store that cannot be written is not ready, and says why", async () => {
  const store = memoryStore();
  assertEquals(await checkStore(store)(), undefined);
  store.deleteRun = () => Promise.reject(new Error("attempt to write a readonly database"));
  assertEquals(await checkStore(store)(), "the database cannot be written");
});

Deno.test("a database that may only be read is not ready, though nothing in it is old", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/eval.db`;
    const writable = await openStore({ path });
    assertEquals(await checkStore(writable)(), undefined);
    await writable.close();
    const connection = await openSqlite({ path, mode: "read" });
    const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
    const readOnly = createRunStore(db, { now: Date.now, newId: createRunIds(Date.now) });
    assertEquals(await checkStore(readOnly)(), "the database cannot be written");
    await readOnly.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
