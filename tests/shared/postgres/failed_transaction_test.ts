import { assertEquals, assertRejects } from "@std/assert";
import { createPostgresPool } from "../../../shared/postgres/pool.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";

Deno.test({
  name: "a connection whose transaction failed within one text is usable for the next statement",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    const pool = await createPostgresPool({ address, max: 1, name: "test" });
    const pid = async () =>
      (await pool.query<{ pid: number }>({ text: "select pg_backend_pid() as pid" })).rows[0]?.pid;
    const before = await pid();
    await assertRejects(() => pool.query({ text: "begin; select 1 / 0; commit" }), Error, "zero");
    assertEquals(await pid(), before);
    await pool.end();
  },
});
