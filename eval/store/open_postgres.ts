import { type Dialect, Kysely, PostgresDialect, sql } from "kysely";
import { ConfigError } from "../../shared/service/config.ts";
import { describePostgres } from "../../shared/service/postgres/address.ts";
import {
  createPostgresPool,
  type PostgresPool,
  requireSessions,
} from "../../shared/service/postgres/pool.ts";
import { deleteAbandonedParts } from "./datasets.ts";
import { createTables, TABLES } from "./schema/create_tables.ts";
import { createRunReader } from "./runs/run_reader.ts";
import { deleteOrphanGrades } from "./grades.ts";
import { asCommon, type PostgresTables, type Tables } from "./schema/schema.ts";
import type { RunReader } from "./store.ts";
import { createRunNews } from "./run_news.ts";
import { createSharedStore, type JobList } from "./shared_store.ts";

interface OpenPostgresOptions {
  /** `EVAL_DATA`: `postgres://…`. */
  address: string;
  /** The largest number of connections, not counting the one that listens. */
  maxConnections: number;
  /** What conversations are handed out from; no run is created before it is known. */
  openJobs: (pool: PostgresPool) => Promise<JobList>;
  now?: () => number;
  /** Called if an idle connection is lost. */
  onError?: (error: Error) => void;
}

const NAME = "assay-eval";

/**
 * A store on PostgreSQL with what belongs to it; `store.close` closes all of it.
 * Throws `ConfigError`, without the password, if the database cannot be used.
 */
export async function openPostgres(options: OpenPostgresOptions) {
  const { address, maxConnections: max, now = Date.now, onError } = options;
  await prepareTables(address);
  const pool = await createPostgresPool({
    address,
    max,
    name: NAME,
    ...(onError && { onError }),
  });
  const db = new Kysely<PostgresTables>({ dialect: createPostgresDialect(pool) });
  const news = createRunNews(pool);
  try {
    const jobs = await options.openJobs(pool);
    const store = createSharedStore(db, { pool, news, jobs, now });
    return { store, pool, news };
  } catch (error) {
    await pool.end();
    throw cannotOpen(address, error);
  }
}

/** Opens the database for reading. Throws `ConfigError` as `openPostgres` does. */
export async function openPostgresReader(address: string): Promise<RunReader> {
  await prepareTables(address);
  const pool = await createPostgresPool({ address, max: 2, name: NAME });
  return createRunReader(new Kysely<Tables>({ dialect: createPostgresDialect(pool) }));
}

/** Makes the tables of an empty database; processes that start at once wait for the first of them. */
async function prepareTables(address: string): Promise<void> {
  const pool = await createPostgresPool({ address, max: 1, name: NAME });
  const db = new Kysely<PostgresTables>({ dialect: createPostgresDialect(pool) });
  try {
    await requireSessions(pool);
    await db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(hashtext('assay_tables'))`.execute(transaction);
      await createTables(asCommon(transaction), [...TABLES, ...SHARED_TABLES]);
    });
    await deleteOrphanGrades(asCommon(db));
    await deleteAbandonedParts(asCommon(db), Date.now);
  } catch (error) {
    throw cannotOpen(address, error);
  } finally {
    await pool.end();
  }
}

function cannotOpen(address: string, error: unknown): ConfigError {
  const reason = (error as Error).cause ?? error;
  const { code, message } = reason as Error & { code?: string };
  const words = message || code || String(reason); // a refused connection may have no message
  return new ConfigError(`cannot open EVAL_DATA=${describePostgres(address)}: ${words}`, {
    cause: error,
  });
}

/** kysely's PostgreSQL dialect on our pool, which translates errors and closes broken connections. */
function createPostgresDialect(pool: PostgresPool): Dialect {
  return new PostgresDialect({
    pool: {
      options: {},
      async connect() {
        const client = await pool.connect();
        return {
          // deno-lint-ignore no-explicit-any -- kysely's second overload is for cursors
          query: (text: any, values: readonly unknown[] = []): any =>
            client.query({ text, values }),
          release: () => client.release(),
        };
      },
      end: () => pool.end(),
    },
  });
}

/** What only PostgreSQL needs, where several processes work on the same runs. */
const SHARED_TABLES = [
  "alter table runs add column last_seq integer not null default 0",
  `create table endpoint_paces (
    origin text primary key,
    concurrency double precision not null,
    changed_by text not null,
    changed_at timestamptz not null
  )`,
];
