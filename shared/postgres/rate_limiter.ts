import type * as limiters from "rate-limiter-flexible";
import { errorMessage } from "../errors.ts";
import type { Rate } from "../http/router/rate.ts";
import { createMemoryLimiter, type RateLimiter } from "../http/router/rate_limit.ts";
import type { Logger } from "../log.ts";
import type { PostgresPool } from "./pool.ts";

const TABLE = "assay_rate_limits";
const RETRY_MS = 5_000;

interface PostgresLimiterOptions {
  pool: PostgresPool;
  rate: Rate;
  /** Separates the services that use one database. */
  service: string;
  log: Logger;
  /** The wait before the table is tried again; for tests. */
  retryMs?: number;
}

/**
 * Counts one request, by the clock of the database. A window that would end later than a new one is
 * of a process that counted by a clock of its own, or of a time before the clock was set back.
 */
const COUNT = `
  with clock as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now)
  insert into ${TABLE} as kept (key, points, expire)
  select $1, $2::int, clock.now + $3::bigint from clock
  on conflict (key) do update set
    points = case when kept.expire between excluded.expire - $3 + 1 and excluded.expire
      then kept.points + excluded.points else excluded.points end,
    expire = case when kept.expire between excluded.expire - $3 + 1 and excluded.expire
      then kept.expire else excluded.expire end
  returning points, expire - (select now from clock) as left`;

const CLEAR = `delete from ${TABLE}
  where expire < (extract(epoch from now() - interval '1 hour') * 1000)::bigint`;

/** The parts of the library's class that use the clock of the process. */
interface ClockUser {
  _upsert(key: string, points: number, windowMs: number): Promise<{ rows: CountedRow[] }>;
  clearExpired(): Promise<void>;
  /** How long a caller who is over the limit is refused without asking the database. */
  getInMemoryBlockMsBeforeExpire(key: string): number;
}

interface CountedRow {
  points: number;
  /** By the clock of this process. */
  expire: number;
}

/** Has a limiter use the clock of the database, which all processes share. */
function withSharedClock<Limiter extends RateLimiter>(
  limiter: Limiter,
  pool: PostgresPool,
  rate: Rate,
) {
  const own = limiter as unknown as ClockUser;
  const blockedMs = own.getInMemoryBlockMsBeforeExpire.bind(limiter);
  const shared: ClockUser = {
    async _upsert(key, points, windowMs) {
      const { rows: [row] } = await pool.query<{ points: number; left: number }>({
        name: "count_request",
        text: COUNT,
        values: [key, points, windowMs],
      });
      return { rows: [{ points: row!.points, expire: Date.now() + row!.left }] };
    },
    clearExpired: () => pool.query({ text: CLEAR }).then(() => {}, () => {}),
    getInMemoryBlockMsBeforeExpire(key) {
      const ms = blockedMs(key);
      return ms > rate.seconds * 1000 ? 0 : ms; // the clock of this process was set back
    },
  };
  return Object.assign(limiter, shared);
}

/**
 * Counts requests in a table that all processes share. While the database is not available each
 * process counts by itself: a limit must not stop a service.
 */
export async function createPostgresLimiter(
  { pool, rate, service, log, retryMs = RETRY_MS }: PostgresLimiterOptions,
): Promise<RateLimiter> {
  // Its own file: the whole package brings a store for every database that there is.
  const { default: RateLimiterPostgres } = await import(
    "rate-limiter-flexible/lib/RateLimiterPostgres.js"
  ) as { default: typeof limiters.RateLimiterPostgres };
  const limiter = new RateLimiterPostgres({
    storeClient: pool,
    storeType: "pool",
    tableName: TABLE,
    tableCreated: true,
    keyPrefix: service,
    points: rate.requests,
    duration: rate.seconds,
    inMemoryBlockOnConsumed: rate.requests + 1, // refusals cost no statement
    insuranceLimiter: createMemoryLimiter(rate),
  });

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
  return withSharedClock(limiter, pool, rate);
}
