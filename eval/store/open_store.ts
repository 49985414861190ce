import { Kysely } from "kysely";
import type { WorkerEvent } from "../../shared/background/worker_call.ts";
import { migrate } from "./migrations.ts";
import { createRunIds } from "./run_id.ts";
import { createRunReader } from "./run_reader.ts";
import { createRunStore, deleteOrphans } from "./run_store.ts";
import type { Tables } from "./schema.ts";
import { cannotOpen, openSqlite, type SqliteConnection } from "./sqlite_connection.ts";
import { createSqliteDialect } from "./sqlite_dialect.ts";
import type { RunReader, RunStore } from "./store.ts";
import { isStorageFault } from "./store_fault.ts";

export interface OpenStoreOptions {
  /** `EVAL_DATA`: a file, whose folder is made, or `:memory:`. */
  path: string;
  /** Bounds the file; for tests of a full disk. */
  maxPages?: number;
  /** How long a statement waits for another process that holds the file's lock. 5000 if unset. */
  busyTimeoutMs?: number;
  now?: () => number;
  /** Keeps 8 MB beside the file for the day when the disk is full: deleting needs room, too. */
  keepsReserve?: boolean;
  /** Told when the database's worker dies and when it is back. */
  onEvent?: (event: WorkerEvent) => void;
  /** Workers to keep for the case that the database's dies; see `ConnectionOptions`. */
  spares?: number;
  /** For tests of a worker that dies. */
  start?: (path: string) => Worker;
}

/**
 * Opens the database for this process alone and brings its tables up to date. Throws `ConfigError`
 * where another process has it or the file cannot be used.
 */
export async function openStore(options: OpenStoreOptions): Promise<RunStore> {
  const { now = Date.now, keepsReserve = false, ...where } = options;
  const connection = await openSqlite({ ...where, mode: "write" });
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) });
  try {
    await migrate(db);
    await deleteOrphans(db);
  } catch (error) {
    await db.destroy();
    throw cannotOpen(options.path, error);
  }
  const store = createRunStore(db, { now, newId: createRunIds(now) });
  const keepRoom = () => keepsReserve ? connection.keepRoom().catch(() => {}) : undefined;
  await keepRoom(); // on a full disk there is none to keep
  return { ...store, ...onDisk(store, { ...connection, keepRoom }) };
}

/** What a store in a file has to do beside what every store does. */
function onDisk(
  store: RunStore,
  connection: Pick<SqliteConnection, "requireInPlace" | "makeRoom"> & {
    keepRoom: () => Promise<void> | undefined;
  },
): Pick<RunStore, "deleteRun" | "deleteOlderThan" | "checkWrite"> {
  async function deleteRun(id: string): Promise<boolean> {
    try {
      return await store.deleteRun(id);
    } catch (error) {
      if (!isStorageFault(error) || error.code !== "storage_full") throw error;
    }
    await connection.makeRoom(); // deleting writes first
    try {
      return await store.deleteRun(id);
    } finally {
      await connection.keepRoom();
    }
  }

  return {
    deleteRun,
    deleteOlderThan(moment) {
      return store.deleteOlderThan.call({ ...store, deleteRun }, moment);
    },
    async checkWrite() {
      await connection.requireInPlace();
      await store.checkWrite();
    },
  };
}

/** Opens the database only to look at it; the service may be running at the same time. */
export async function openReader({ path }: { path: string }): Promise<RunReader> {
  const connection = await openSqlite({ path, mode: "read" });
  return createRunReader(new Kysely<Tables>({ dialect: createSqliteDialect(connection) }));
}
