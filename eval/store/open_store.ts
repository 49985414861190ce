import { Kysely, sql } from "kysely";
import { ConfigError } from "../../shared/config/config.ts";
import { deleteAbandonedParts } from "./datasets.ts";
import { isMigrated, migrate, type MigrateOptions } from "./schema/migrate.ts";
import { createRunIds } from "./runs/run_record.ts";
import { newestRunId } from "./runs/run_list.ts";
import { createRunReader } from "./runs/run_reader.ts";
import { deleteOrphanGrades } from "./grades.ts";
import { createRunStore } from "./runs/run_store.ts";
import type { Tables } from "./schema/schema.ts";
import {
  cannotOpen,
  createSqliteDialect,
  openSqlite,
  type SqliteConnection,
} from "./sqlite/sqlite_connection.ts";
import type { RunReader, RunStore } from "./store.ts";
import { fileIsGone, StoreFault } from "./store_fault.ts";

interface OpenStoreOptions {
  /** `EVAL_DATA`: a file, whose folder is created, or `:memory:`. */
  path: string;
  /** Limits the size of the file; for tests of a full disk. */
  maxPages?: number;
  /** How long a statement waits for the lock of another process. 5000 if unset. */
  busyTimeoutMs?: number;
  now?: () => number;
  log?: MigrateOptions["log"];
}

/**
 * Opens the database for this process only and migrates its tables. Throws `ConfigError` if another
 * process uses it or the file cannot be used.
 */
export async function openStore(options: OpenStoreOptions): Promise<RunStore> {
  const { now = Date.now, log, ...where } = options;
  const connection = await openSqlite({ ...where, mode: "write" });
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
  let newest: string | undefined;
  try {
    await migrateOverwriting(db, log);
    await deleteOrphanGrades(db);
    await deleteAbandonedParts(db, now);
    newest = await newestRunId(db);
  } catch (error) {
    await db.destroy();
    throw cannotOpen(options.path, error);
  }
  const store = createRunStore(db, {
    now,
    newId: createRunIds(now, newest),
    ...(options.path !== ":memory:" && { reads: await openForReading(where, "read") }),
  });
  return { ...store, ...onDisk(store, connection) };
}

/**
 * Migrates, and overwrites in the file what migrations remove: the queries of endpoints, which may
 * have a credential. Not for what is deleted later, because on a full disk that needs more room.
 */
async function migrateOverwriting(db: Kysely<Tables>, log: MigrateOptions["log"]): Promise<void> {
  await sql`pragma secure_delete = on`.execute(db);
  await migrate(db, { log });
  await sql`pragma secure_delete = off`.execute(db);
}

/** What a store in a file does differently: nothing new is stored in a file that is lost. */
function onDisk(
  store: RunStore,
  connection: Pick<SqliteConnection, "requireInPlace">,
): Partial<RunStore> {
  function inPlace<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      await connection.requireInPlace().catch((error) => {
        throw error instanceof StoreFault && error.isMissing ? fileIsGone(error) : error;
      });
      return await work(...args);
    };
  }

  return {
    createRun: inPlace(store.createRun),
    createGroup: inPlace(store.createGroup),
    saveDataset: inPlace(store.saveDataset),
    saveGrade: inPlace(store.saveGrade),
    withdrawGrade: inPlace(store.withdrawGrade),
    setTag: inPlace(store.setTag),
    describeRun: inPlace(store.describeRun),
    deleteRun: inPlace(store.deleteRun),
    deleteDataset: inPlace(store.deleteDataset),
    async checkWrite() {
      await connection.requireInPlace();
      await store.checkWrite();
    },
  };
}

/**
 * Opens the database for reading, as it is at this moment; the service may be running at the same
 * time. Tables of an earlier version are migrated first; throws `ConfigError` if another process
 * uses them.
 */
export async function openReader(
  { path, log }: Pick<OpenStoreOptions, "path" | "log">,
): Promise<RunReader> {
  const db = await openForReading({ path }, "snapshot");
  let isCurrent = false;
  try {
    isCurrent = await isMigrated(db); // the first statement that reads the file
  } catch (error) {
    throw cannotOpen(path, error);
  } finally {
    if (!isCurrent) await db.destroy();
  }
  if (isCurrent) return createRunReader(db);
  await migrateFile({ path, log });
  return createRunReader(await openForReading({ path }, "snapshot"));
}

async function openForReading(
  where: Pick<OpenStoreOptions, "path" | "busyTimeoutMs">,
  mode: "read" | "snapshot",
): Promise<Kysely<Tables>> {
  const connection = await openSqlite({ ...where, mode });
  return new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
}

async function migrateFile(options: Pick<OpenStoreOptions, "path" | "log">): Promise<void> {
  try {
    await (await openStore(options)).close();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      `${error.message}. Its tables are of an earlier version and have to be updated first; ` +
        "starting the service in this version does it, too",
      { cause: error },
    );
  }
}
