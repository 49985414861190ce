import resultClass from "rate-limiter-flexible/lib/RateLimiterRes.js";
import type * as limiters from "rate-limiter-flexible";
import { errorMessage } from "../errors.ts";
import { createMemoryLimiter, type Rate, type RateLimiter } from "../../http/rate_limit.ts";
import type { Logger } from "../log.ts";
import type { PostgresPool } from "./pool.ts";

const RateLimiterRes: typeof limiters.RateLimiterRes = resultClass;

const TABLE = "assay_rate_limits";
const RETRY_MS = 5_000;
const CLEAR_MS = 5 * 60_000;

/**
 * Counts one request, by the clock of the database. A window that would end later than a new one was
 * begun before the clock was set back, and is replaced.
 */
const COUNT = `
  with clock as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now)
  insert into ${TABLE} as kept (key, points, expire)
  select $1, 1, clock.now + $2::bigint from clock
  on conflict (key) do update set
    points = case when kept.expire between excluded.expire - $2 + 1 and excluded.expire
      then kept.points + 1 else 1 end,
    expire = case when kept.expire between excluded.expire - $2 + 1 and excluded.expire
      then kept.expire else excluded.expire end
  returning points, expire - (select now from clock) as left`;

const CLEAR = `delete from ${TABLE}
  where expire < (extract(epoch from now() - interval '1 hour') * 1000)::bigint`;

/**
 * Counts requests in a table that all processes share. While the database is not available each
 * process counts by itself: a limit must not stop a service.
 */
export async function createPostgresLimiter(
  { pool, rate, service, log, retryMs = RETRY_MS }: {
    pool: PostgresPool;
    rate: Rate;
    /** Separates the services that use one database. */
    service: string;
    log: Logger;
    /** The wait before the table is tried again; for tests. */
    retryMs?: number;
  },
): Promise<RateLimiter> {
  const alone = createMemoryLimiter(rate);
  /** Until when callers are refused, by `performance.now()`: a refusal then needs no statement. */
  const refused = new Map<string, number>();
  let told: string | undefined;

  async function createTable(): Promise<void> {
    try {
      await pool.query({
        text: `create table if not exists ${TABLE}
          (key varchar(255) primary key, points integer not null default 0, expire bigint)`,
      });
    } catch (error) {
      if ((error as { code?: string }).code === "23505") return; // another process made it just now
      const reason = errorMessage(error); // of this statement, so it contains no data
      if (reason !== told) {
        log.warn("cannot count requests in the database; this process counts its own", { reason });
      }
      told = reason;
      Deno.unrefTimer(setTimeout(createTable, retryMs));
    }
  }

  await createTable();
  const clearing = setInterval(() => {
    for (const [key, until] of refused) if (until < performance.now()) refused.delete(key);
    pool.query({ text: CLEAR }).catch(() => {});
  }, CLEAR_MS);
  Deno.unrefTimer(clearing);

  return {
    async consume(caller) {
      const key = `${service}:${caller}`;
      const refusedMs = (refused.get(key) ?? 0) - performance.now();
      if (refusedMs > 0) throw new RateLimiterRes(0, refusedMs);
      const statement = { name: "count_request", text: COUNT, values: [key, rate.seconds * 1000] };
      const counted = await pool.query<{ points: number; left: number }>(statement)
        .catch(() => undefined);
      if (!counted) return await alone.consume(caller);
      const { points, left } = counted.rows[0]!;
      const result = new RateLimiterRes(Math.max(0, rate.requests - points), left, points);
      if (points <= rate.requests) return result;
      refused.set(key, performance.now() + left);
      throw result;
    },
  };
}
