import { assert, assertEquals } from "@std/assert";
import { createRateLimit } from "../../../../shared/http/rate_limit.ts";
import { router } from "../../../../shared/http/router.ts";
import { createLogger, silentLogger } from "../../../../shared/service/log.ts";
import { createPostgresPool, type PostgresPool } from "../../../../shared/service/postgres/pool.ts";
import { createPostgresLimiter } from "../../../../shared/service/postgres/rate_limiter.ts";
import { postgresBin, startPostgres } from "../../../fakes/postgres_server.ts";
import { shiftClock } from "../../../fakes/shifted_clock.ts";
import { until } from "../../../fakes/until.ts";
// old counts are deleted by a timer
import { test } from "../../../fakes/leaky.ts";

test({
  name: "processes share a rate limit in PostgreSQL, and each counts by itself while it is down",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    const rate = { requests: 4, seconds: 3600 };
    const pools = await Promise.all(
      [1, 2].map(() => createPostgresPool({ address, max: 1, name: "test" })),
    );
    const services = await Promise.all(pools.map(async (pool) => {
      const options = { pool, rate, service: "test", log: silentLogger };
      const limiter = await createPostgresLimiter(options);
      const route = { method: "GET", path: "/", summary: "", handler: () => new Response("ok") };
      return router([route as never], {
        log: silentLogger,
        guards: [createRateLimit({ rate, trustedProxies: [], limiter })],
      });
    }));
    const ask = async (index: number) => {
      const response = await services[index]!(new Request("http://127.0.0.1/"));
      await response.body?.cancel();
      return response.status;
    };
    const statuses: number[] = [];
    for (const index of [0, 1, 0, 1, 0, 1]) statuses.push(await ask(index));
    assertEquals(statuses, [200, 200, 200, 200, 429, 429]);
    await server.stop();
    assertEquals(await ask(0), 429, "a caller who is over the limit is remembered");
    await Promise.all(pools.map((pool) => pool.end()));
  },
});

test({
  name: "processes whose clocks differ share a rate limit, and none refuses longer than a window",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const pool = await createPostgresPool({
      address: await server.createDatabase(),
      max: 1,
      name: "test",
    });
    const rate = { requests: 4, seconds: 60 };
    const options = { pool, rate, service: "test", log: silentLogger };
    const limiters = await Promise.all([1, 2, 3].map(() => createPostgresLimiter(options)));
    /** Counts at a process whose clock is so many hours ahead. */
    async function count(index: number, hours: number) {
      using _shifted = shiftClock(hours);
      return await limiters[index]!.consume("caller").catch((refused) => refused);
    }

    const left: number[] = [];
    for (const [index, hours] of [[0, 0], [1, 1], [0, 0], [1, 1], [0, 0], [1, 1], [0, -1]]) {
      const { remainingPoints, msBeforeNext } = await count(index!, hours!);
      left.push(remainingPoints);
      assert(msBeforeNext > 0 && msBeforeNext <= 60_000, `${msBeforeNext} ms`);
    }
    assertEquals(left, [3, 2, 1, 0, 0, 0, 0]);
    await pool.query({ text: "update assay_rate_limits set expire = expire - 60001" });
    assertEquals((await count(2, -1)).remainingPoints, 3, "the window is over");
    await pool.end();
  },
});

test({
  name: "a limit that cannot be counted in PostgreSQL is logged once, with the reason",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const address = new URL(await server.createDatabase());
    const owner = await createPostgresPool({ address: address.href, max: 1, name: "owner" });
    await owner.query({ text: "create role guest login password 'hidden'" });
    await owner.query({ text: "revoke create on schema public from public" });
    Object.assign(address, { username: "guest", password: "hidden" });
    const pool = await createPostgresPool({ address: address.href, max: 1, name: "guest" });
    const lines: string[] = [];
    const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
    const rate = { requests: 4, seconds: 60 };
    const third = Promise.withResolvers<void>();
    let asked = 0;
    const counted: PostgresPool = {
      ...pool,
      query(statement) {
        if (++asked === 3) third.resolve();
        return pool.query(statement);
      },
    };
    await createPostgresLimiter({ pool: counted, rate, service: "test", log, retryMs: 20 });
    await third.promise;
    assertEquals(lines.map((line) => JSON.parse(line).reason), [
      "permission denied for schema public",
    ]);
    await owner.query({ text: "grant create on schema public to guest" });
    const text = "select 1 where to_regclass('assay_rate_limits') is not null";
    await until(async () => (await owner.query({ text })).rows.length > 0); // it is tried again
    for (const one of [pool, owner]) await one.end();
  },
});
