import { assertEquals } from "@std/assert";
import { Kysely } from "kysely";
import { openSqlite } from "../../../eval/store/sqlite/sqlite_connection.ts";
import { createSqliteDialect } from "../../../eval/store/sqlite/sqlite_dialect.ts";

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
