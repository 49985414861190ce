import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { AppError } from "../../../../shared/service/errors.ts";
import { toDatabaseError } from "../../../../shared/service/postgres/fault.ts";
import { createPostgresPool, type PostgresPool } from "../../../../shared/service/postgres/pool.ts";
// pg's `end` does not wait until the sockets of refused connections have closed
import { test } from "../../../fakes/leaky.ts";
import { postgresBin, startPostgres } from "../../../fakes/postgres_server.ts";

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

test({
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
    assertInstanceOf(await lost.promise, AppError); // its message can be logged
    await assertRejects(
      () => pool.query({ text: "select 1" }),
      AppError,
      "it refuses the role or its password",
    );
    for (const one of [pool, owner]) await one.end();
  },
});

test({
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

test({
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

test({
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

test({
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

test({
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

function wordsOf(code: string): string {
  const error = toDatabaseError(Object.assign(new Error("as PostgreSQL says"), { code }));
  assertInstanceOf(error, AppError);
  assertEquals([error.status, error.code], [503, "storage_unavailable"]);
  return error.message;
}

Deno.test("callers are told whether the database is away, read-only or full of connections", () => {
  assertEquals(wordsOf("25006"), "cannot use the database: it is read-only; retry in 5 s");
  assertEquals(
    wordsOf("53300"),
    "cannot use the database: it accepts no further connection (its limit, such as " +
      "max_connections, is reached); retry in 5 s",
  );
  assertEquals(
    wordsOf("ECONNREFUSED"),
    "cannot use the database: it cannot be reached or does not answer; retry in 5 s",
  );
});

Deno.test("callers are told that the database refuses the service, which an administrator can mend", () => {
  const refused = "cannot use the database: it refuses the role or its password; retry in 5 s";
  assertEquals(wordsOf("28P01"), refused); // a new password
  assertEquals(wordsOf("28000"), refused); // a role that may not log in
  assertEquals(
    wordsOf("3D000"),
    "cannot use the database: there is no database of this name on the server; retry in 5 s",
  );
});

Deno.test("a statement that ran into its time limit is named as that, by the server and by the driver", () => {
  const errors = [
    Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" }),
    new Error("Query read timeout"),
  ];
  for (const error of errors) {
    const { status, message } = toDatabaseError(error) as AppError;
    assertEquals(status, 503);
    assertStringIncludes(message, "a statement took longer than its time limit");
  }
});

const encoder = new TextEncoder();

/** A message of PostgreSQL's protocol: its kind, its length, its content. */
function message(kind: string, content: string): Uint8Array {
  const bytes = new Uint8Array(5 + content.length);
  bytes.set(encoder.encode(kind + "\0\0\0\0" + content));
  new DataView(bytes.buffer).setUint32(1, 4 + content.length);
  return bytes;
}

Deno.test("a connection that is ended together with its start is an error, not the end of the process", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(1000));
      const consent = [message("R", "\0\0\0\0"), message("Z", "I")];
      const end = message("E", "SFATAL\0C57P01\0Mterminating connection\0\0");
      await connection.write(new Uint8Array([...consent, end].flatMap((bytes) => [...bytes])));
      connection.close();
    }
  })();
  const pool = await createPostgresPool({
    address: `postgres://a:b@127.0.0.1:${listener.addr.port}/c`,
    max: 1,
    name: "test",
  });
  await assertRejects(() => pool.query({ text: "select 1" }), AppError);
  await pool.end();
  listener.close();
  await serving;
});
