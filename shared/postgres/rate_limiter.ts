import type * as limiters from "rate-limiter-flexible";
import type { Rate } from "../http/rate.ts";
import { createMemoryLimiter, type RateLimiter } from "../http/rate_limit.ts";
import type { Logger } from "../log.ts";
import type { PostgresPool } from "./pool.ts";

const TABLE = "assay_rate_limits";
const RETRY_MS = 5_000;

export interface PostgresLimiterOptions {
  pool: PostgresPool;
  rate: Rate;
  /** Separates the services that use one database. */
  service: string;
  log: Logger;
}

/**
 * Counts requests in a table that all processes share. While the database is not available each
 * process counts by itself: a limit must not stop a service.
 */
export async function createPostgresLimiter(
  { pool, rate, service, log }: PostgresLimiterOptions,
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

  async function createTable(): Promise<void> {
    try {
      await pool.query({
        text: `create table if not exists ${TABLE}
          (key varchar(255) primary key, points integer not null default 0, expire bigint)`,
      });
    } catch (error) {
      if ((error as { code?: string }).code === "23505") return; // another process made it just now
      log.warn("cannot count requests in the database; this process counts its own", { error });
      Deno.unrefTimer(setTimeout(createTable, RETRY_MS));
    }
  }

  await createTable();
  return limiter;
}
