import { type Dialect, Kysely, PostgresDialect } from "kysely";
import { ConfigError } from "../../../shared/config/config.ts";
import { describePostgres } from "../../../shared/postgres/address.ts";
import {
  createPostgresPool,
  type PostgresPool,
  requireSessions,
} from "../../../shared/postgres/pool.ts";
import { deleteAbandonedParts } from "../datasets.ts";
import { isMigrated, migrate, type MigrateOptions } from "../schema/migrate.ts";
import { createRunReader } from "../runs/run_reader.ts";
import { deleteOrphanGrades } from "../grades.ts";
import { asCommon, type PostgresTables, type Tables } from "../schema/schema.ts";
import type { RunReader } from "../store.ts";
import { createRunNews } from "./run_news.ts";
import { createSharedStore } from "./shared_store.ts";
import type { WorkList } from "./listing.ts";
import type { Migration } from "kysely/migration";

interface OpenPostgresOptions {
  /** `EVAL_DATA`: `postgres://…`. */
  address: string;
  /** The largest number of connections, not counting the one that listens. */
  maxConnections: number;
  /** Where the conversations of runs wait; no run is created before it is known. */
  createWorkList: (pool: PostgresPool) => Promise<WorkList>;
  now?: () => number;
  log?: MigrateOptions["log"];
  /** Called if an idle connection is lost. */
  onError?: (error: Error) => void;
}

const NAME = "assay-eval";

/**
 * A store on PostgreSQL with what belongs to it; `store.close` closes all of it. Migrates first.
 * Throws `ConfigError`, without the password, if the database cannot be used.
 */
export async function openPostgres(options: OpenPostgresOptions) {
  const { address, maxConnections: max, now = Date.now, onError, log } = options;
  await migrateAddress(address, log);
  const pool = await createPostgresPool({
    address,
    max,
    name: NAME,
    ...(onError && { onError }),
  });
  const db = new Kysely<PostgresTables>({ dialect: createPostgresDialect(pool) });
  const news = createRunNews(pool);
  try {
    const work = await options.createWorkList(pool);
    const store = createSharedStore(db, { pool, news, work, now });
    return { store, pool, news };
  } catch (error) {
    await pool.end();
    throw cannotOpen(address, error);
  }
}

/**
 * Opens the database for reading. Tables of an earlier version are migrated first. Throws
 * `ConfigError` as `openPostgres` does.
 */
export async function openPostgresReader(
  address: string,
  { log }: Pick<MigrateOptions, "log"> = {},
): Promise<RunReader> {
  const pool = await createPostgresPool({ address, max: 2, name: NAME });
  const db = new Kysely<Tables>({ dialect: createPostgresDialect(pool) });
  try {
    if (!await isMigrated(db, { further: postgresMigrations })) await migrateAddress(address, log);
  } catch (error) {
    await pool.end();
    throw error instanceof ConfigError ? error : cannotOpen(address, error);
  }
  return createRunReader(db);
}

/** With a connection of its own: a migration, and waiting for that of another process, may take long. */
async function migrateAddress(address: string, log: MigrateOptions["log"]): Promise<void> {
  const pool = await createPostgresPool({ address, max: 1, name: NAME, timeoutMs: 0 });
  const db = new Kysely<PostgresTables>({ dialect: createPostgresDialect(pool) });
  try {
    await requireSessions(pool);
    await migrate(asCommon(db), { further: postgresMigrations, newerAllowed: 1, log });
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
export function createPostgresDialect(pool: PostgresPool): Dialect {
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
const postgresMigrations: Record<string, Migration> = {
  "0011_shared_runs": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("runs")
        .addColumn("last_seq", "integer", (column) => column.notNull().defaultTo(0))
        .addColumn("queue", "text")
        .addColumn("reserved_until", "timestamptz")
        .execute();
      await db.schema.createTable("endpoint_paces")
        .addColumn("origin", "text", (column) => column.primaryKey())
        .addColumn("concurrency", "double precision", (column) => column.notNull())
        .addColumn("changed_by", "text", (column) => column.notNull())
        .addColumn("changed_at", "timestamptz", (column) => column.notNull())
        .execute();
    },
  },
  "0020_portions": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("runs")
        .addColumn("places", "integer")
        .addColumn("listed", "integer")
        .execute();
    },
  },
};
