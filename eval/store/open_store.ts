import { Kysely, sql } from "kysely";
import { AppError } from "../../shared/service/errors.ts";
import { deleteAbandonedParts } from "./datasets.ts";
import { createTables, hasTables } from "./schema/create_tables.ts";
import { createRunIds } from "./run_record.ts";
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
} from "./sqlite_connection.ts";
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
}

/**
 * Opens the database for this process only. Throws `ConfigError` if another process uses it, if
 * another build wrote it, or if the file cannot be used.
 */
export async function openStore(options: OpenStoreOptions): Promise<RunStore> {
  const { now = Date.now, ...where } = options;
  const connection = await openSqlite({ ...where, mode: "write" });
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
  let newest: string | undefined;
  try {
    await db.transaction().execute((transaction) => createTables(transaction));
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
  return { ...store, ...onDisk(store, { db, connection, ...where }) };
}

const BUSY_TIMEOUT_MS = 5_000;
/** How long a deletion waits for readers, so that it can empty the log. */
const READERS_MS = 100;

/**
 * What a store in a file does differently: nothing new is stored in a file that is lost, and what is
 * deleted is overwritten in the file and taken out of its log.
 */
function onDisk(
  store: RunStore,
  { db, connection, busyTimeoutMs = BUSY_TIMEOUT_MS }: {
    db: Kysely<Tables>;
    connection: Pick<SqliteConnection, "requireInPlace" | "announce">;
    busyTimeoutMs?: number;
  },
): Partial<RunStore> {
  function inPlace<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      await connection.requireInPlace().catch((error) => {
        throw error instanceof StoreFault && error.isMissing ? fileIsGone(error) : error;
      });
      return await work(...args);
    };
  }

  function erased<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
    return inPlace(async (...args: Args): Promise<Result> => {
      const result = await work(...args).catch((error) => {
        if (!(error instanceof AppError) || error.code !== "storage_full") throw error;
        return withoutOverwriting(() => work(...args));
      });
      await emptyLog();
      return result;
    });
  }

  /** Overwriting needs room in the log, and on a full disk a deletion should make some. */
  async function withoutOverwriting<Result>(work: () => Promise<Result>): Promise<Result> {
    await sql`pragma secure_delete = off`.execute(db);
    try {
      return await work();
    } finally {
      await sql`pragma secure_delete = on`.execute(db);
    }
  }

  async function emptyLog(): Promise<void> {
    await db.connection().execute(async (one) => {
      await sql.raw(`pragma busy_timeout = ${READERS_MS}`).execute(one);
      // If the disk is full or a reader stays, a later deletion or the end of the process does it.
      await sql`pragma wal_checkpoint(truncate)`.execute(one).catch(() => {});
      await sql.raw(`pragma busy_timeout = ${busyTimeoutMs}`).execute(one);
    });
  }

  return {
    announce: connection.announce,
    createRun: inPlace(store.createRun),
    createGroup: inPlace(store.createGroup),
    saveDataset: inPlace(store.saveDataset),
    saveGrade: inPlace(store.saveGrade),
    deleteGrade: erased(store.deleteGrade),
    describeRun: inPlace(store.describeRun),
    deleteRun: erased(store.deleteRun),
    deleteDataset: erased(store.deleteDataset),
    async checkWrite() {
      await connection.requireInPlace();
      await store.checkWrite();
    },
  };
}

/**
 * Opens the database for reading, as it is at this moment; the service may be running at the same
 * time. Throws `ConfigError` if another build wrote it.
 */
export async function openReader({ path }: Pick<OpenStoreOptions, "path">): Promise<RunReader> {
  const db = await openForReading({ path }, "snapshot");
  try {
    // The first statement that reads the file.
    if (!await hasTables(db)) throw new Error("it has no runs: it is not a database of assay-eval");
  } catch (error) {
    await db.destroy();
    throw cannotOpen(path, error);
  }
  return createRunReader(db);
}

async function openForReading(
  where: Pick<OpenStoreOptions, "path" | "busyTimeoutMs">,
  mode: "read" | "snapshot",
): Promise<Kysely<Tables>> {
  const connection = await openSqlite({ ...where, mode });
  return new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
}
