import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { createPostgresPool, type PostgresPool } from "../../../shared/postgres/pool.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";

const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());

/** A pool of the database's owner, and the address of a guest who may log in. */
async function createGuest(role: string): Promise<{ owner: PostgresPool; address: string }> {
  const own = await server.createDatabase();
  const owner = await createPostgresPool({ address: own, max: 1, name: "owner" });
  await owner.query({ text: `create role ${role} login password 'hidden'` });
  const guest = new URL(own);
  guest.username = role;
  guest.password = "hidden";
  return { owner, address: guest.href };
}

/** Settles once a query has no rows. */
async function untilNone(pool: PostgresPool, text: string): Promise<void> {
  for (let times = 0; times < 1_000; times++) {
    if ((await pool.query({ text })).rows.length === 0) return;
  }
  throw new Error(`there are still rows: ${text}`);
}

Deno.test({
  name: "a role that may no longer log in is told as a fault of the database, with the reason",
  ignore,
  async fn() {
    const { owner, address } = await createGuest("leaver");
    const lost = Promise.withResolvers<Error>();
    const pool = await createPostgresPool({
      address,
      max: 2,
      name: "leaver",
      onError: lost.resolve,
    });
    await pool.query({ text: "select 1" });
    await owner.query({ text: "alter role leaver nologin" });
    await owner.query({
      text: "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'leaver'",
    });
    assertInstanceOf(await lost.promise, AppError); // its words can be logged
    await assertRejects(
      () => pool.query({ text: "select 1" }),
      AppError,
      "it refuses the role or its password",
    );
    for (const one of [pool, owner]) await one.end();
  },
});

Deno.test({
  name: "a pool that gets fewer connections than it may have uses those that it has",
  ignore,
  async fn() {
    const { owner, address } = await createGuest("neighbour");
    await owner.query({ text: "alter role neighbour connection limit 2" });
    for (let round = 0; round < 12; round++) { // refusals may come before or after what is accepted
      const pool = await createPostgresPool({ address, max: 10, name: "neighbour" });
      const ask = () => pool.query<{ n: number }>({ text: "select 1 as n from pg_sleep(0.002)" });
      for (let time = 0; time < 2; time++) {
        const answers = await Promise.all(Array.from({ length: 40 }, ask));
        assertEquals(answers.map(({ rows }) => rows[0]!.n), Array(40).fill(1));
      }
      await pool.end();
      const text = "select 1 from pg_stat_activity where usename = 'neighbour'";
      await untilNone(owner, text); // the server ends them a little later
    }
    await owner.end();
  },
});

Deno.test({
  name: "if all connections that a pool gets are taken for long, the limit is named",
  ignore,
  async fn() {
    const { owner, address } = await createGuest("waiter");
    await owner.query({ text: "alter role waiter connection limit 2" });
    const pool = await createPostgresPool({ address, max: 10, name: "waiter" });
    const clients = await Promise.allSettled(Array.from({ length: 12 }, () => pool.connect()));
    const taken = clients.flatMap((client) => client.status === "fulfilled" ? [client.value] : []);
    assertEquals(taken.length, 2);
    for (const client of clients) {
      if (client.status === "fulfilled") continue;
      assertStringIncludes(client.reason.message, "it accepts no further connection");
    }
    for (const client of taken) client.release();
    for (const one of [pool, owner]) await one.end();
  },
});

Deno.test({
  name: "a pool that gets no connection at all says that the limit is reached",
  ignore,
  async fn() {
    const { owner, address } = await createGuest("latecomer");
    await owner.query({ text: "alter role latecomer connection limit 0" });
    const pool = await createPostgresPool({ address, max: 10, name: "latecomer" });
    await Promise.all(Array.from({ length: 30 }, () =>
      assertRejects(
        () => pool.query({ text: "select 1" }),
        AppError,
        "it accepts no further connection",
      )));
    for (const one of [pool, owner]) await one.end();
  },
});

Deno.test({
  name: "a table that another session holds for longer than lock_timeout is told as such",
  ignore,
  async fn() {
    const address = await server.createDatabase();
    const pool = await createPostgresPool({ address, max: 2, name: "locked" });
    await pool.query({ text: "create table shelf (book text)" });
    const holder = await pool.connect();
    await holder.query({ text: "begin" });
    await holder.query({ text: "lock table shelf" });
    const writer = await pool.connect();
    await writer.query({ text: "set lock_timeout = 50" });
    await assertRejects(
      () => writer.query({ text: "insert into shelf values ('a')" }),
      AppError,
      "another session holds a lock for too long",
    );
    for (const one of [holder, writer]) one.release();
    await pool.end();
  },
});
