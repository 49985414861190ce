import { basename, dirname, join, resolve } from "node:path";
import { ConfigError } from "../../shared/service/config.ts";
import { AppError } from "../../shared/service/errors.ts";
import { storageError, StoreFault } from "./store_fault.ts";
import {
  SQLITE_BUSY,
  SQLITE_CANTOPEN,
  SQLITE_CORRUPT,
  SQLITE_LOCKED,
  SQLITE_NOTADB,
  SQLITE_READONLY,
} from "./sqlite/sqlite_codes.ts";
import type { OpenOptions, QueryResult, WorkerCommand, WorkerReply } from "./sqlite_worker.ts";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

export type SqliteConnection = Awaited<ReturnType<typeof openSqlite>>;

/**
 * Opens a database on a thread of its own that may touch the database's folder and nothing else. If
 * that thread fails, the process ends: a restart opens the file. Throws `ConfigError` if the file
 * cannot be used; the message names `EVAL_DATA`.
 */
export async function openSqlite(options: OpenOptions) {
  const { mode } = options;
  const makesFolder = mode === "write";
  const path = options.path === ":memory:"
    ? options.path
    : realPathOf(options.path, { makesFolder });
  if (path === ":memory:" && mode !== "write") throw cannotOpen(path, new Error(IN_MEMORY));
  const worker = startWorker(path);
  const waiting = new Map<number, PromiseWithResolvers<QueryResult>>();
  let nextId = 0;
  let isClosed = false;

  worker.onmessage = ({ data: reply }: MessageEvent<WorkerReply>) => {
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("error" in reply) caller?.reject(storageError(reply.error));
    else caller?.resolve(reply);
  };

  function send(command: WorkerCommand): Promise<QueryResult> {
    if (isClosed) return Promise.reject(new Error("the database is closed"));
    const id = nextId++;
    const caller = Promise.withResolvers<QueryResult>();
    waiting.set(id, caller);
    worker.postMessage({ id, ...command });
    return caller.promise;
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    const closing = send({ kind: "close" });
    isClosed = true;
    await closing;
    worker.terminate();
  }

  try {
    await send({ kind: "open", ...options, path });
  } catch (error) {
    worker.terminate();
    throw cannotOpen(options.path, error);
  }
  return {
    query: (sql: string, parameters: readonly unknown[]) =>
      send({ kind: "query", sql, parameters }),
    /** Rejects if the path no longer names the file that is open. */
    async requireInPlace(): Promise<void> {
      await send({ kind: "requireInPlace" });
    },
    /** See `RunStore.announce`. */
    async announce(url: string): Promise<void> {
      await send({ kind: "announce", url });
    },
    close,
  };
}

/** A worker with access to the folder of the file only; to no folder for `:memory:`. */
function startWorker(path: string): Worker {
  const folders = path === ":memory:" ? [] : [dirname(path)];
  return new Worker(new URL("./sqlite_worker.ts", import.meta.url), {
    type: "module",
    deno: {
      permissions: { read: folders, write: folders, net: false, env: false, run: false },
    },
  });
}

/** An error that says which file cannot be used, and why. */
export function cannotOpen(path: string, cause: unknown): ConfigError {
  return new ConfigError(`cannot open EVAL_DATA=${path}: ${explain(cause)}`, { cause });
}

const IN_MEMORY = "a database in memory can be read by its own process only; set a file";
const IN_USE = "another process is using it; wait until it has ended, or set another file: " +
  "EVAL_DATA=other.db assay-eval run …";
const FULL = "the disk is full or cannot be written";

function explain(cause: unknown): string {
  if (cause instanceof AppError) {
    return explain(cause.code === "storage_busy" ? cause.cause : new Error(FULL));
  }
  const origin = cause instanceof StoreFault ? cause.origin : (cause as Error).name;
  if (origin === "NotCapable" || origin === "PermissionDenied") {
    return "the process has no permission to read and write that folder";
  }
  if (!(cause instanceof StoreFault)) return cause instanceof Error ? cause.message : `${cause}`;
  switch (cause.code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return IN_USE;
    case SQLITE_CORRUPT:
      return `the file is damaged (${cause.message}); restore a backup, see docs/backup.md`;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN: // also a reader needs the files beside it
      return "its folder cannot be written, where files beside it belong (-wal, -shm); copy it " +
        "elsewhere";
    case SQLITE_NOTADB:
      return "it is not a database";
    default:
      return cause.isMissing ? "there is no such file" : cause.message;
  }
}

/**
 * The address of the service that has a database open, if one has. Who holds the lock has written
 * the address, or deleted that of the last one, so it is read only while the lock is held.
 */
export async function findAddress(data: string): Promise<string | undefined> {
  const path = realPathOf(data, { makesFolder: false });
  const url = await Deno.readTextFile(`${path}.address`).catch(() => undefined);
  if (url === undefined) return undefined;
  const { DatabaseSync } = await import("node:sqlite");
  const lock = new DatabaseSync(`${path}.lock`);
  try {
    lock.prepare("begin exclusive").run();
    return undefined; // nobody holds it
  } catch {
    return url;
  } finally {
    lock.close();
  }
}

/**
 * The path of a database without symbolic links, so that one file has one lock under every name.
 * Creates the folder if it is missing and `makesFolder` is set.
 */
function realPathOf(path: string, { makesFolder }: { makesFolder: boolean }): string {
  const full = resolve(path);
  try {
    return Deno.realPathSync(full);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return full; // opening it reports the reason
  }
  const target = readLink(full);
  if (target !== undefined) { // which does not exist yet
    return realPathOf(resolve(dirname(full), target), { makesFolder });
  }
  try {
    if (makesFolder) Deno.mkdirSync(dirname(full), { recursive: true });
    return join(Deno.realPathSync(dirname(full)), basename(full));
  } catch {
    return full;
  }
}

function readLink(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Revokes the permission to write files until the process ends. The process starts with permission
 * to write any file, because only its configuration says where the database is. The database's
 * worker, which is started before, keeps access to its folder; the thread that serves requests needs
 * none. The permission to read stays: Deno needs it to load the modules of later workers.
 */
export async function giveUpWriting(): Promise<void> {
  await Deno.permissions.revoke({ name: "write" });
}

type UsedConnection = Pick<SqliteConnection, "query" | "close">;

/**
 * kysely's SQLite dialect with another driver: kysely's own driver blocks the calling thread, this
 * one uses a separate thread.
 */
export function createSqliteDialect(connection: UsedConnection): Dialect {
  return {
    createDriver: () => createDriver(connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

function createDriver(sqlite: UsedConnection): Driver {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery) {
      const { rows, changes } = await sqlite.query(sql, parameters);
      return { rows: rows as R[], numAffectedRows: BigInt(changes) };
    },
    streamQuery() {
      throw new Error("streaming queries are not supported: read pages instead");
    },
  };
  const run = async (sql: string) => {
    await connection.executeQuery(CompiledQuery.raw(sql));
  };
  return {
    init: () => Promise.resolve(),
    // kysely lets one caller at a time have it: the adapter says that there is only one connection.
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: () => run("begin immediate"),
    commitTransaction: () => run("commit"),
    // After some failures, for example on a full disk, SQLite has already rolled back and refuses a
    // second time. The first failure is the one to report.
    rollbackTransaction: () => run("rollback").catch(() => {}),
    releaseConnection: () => Promise.resolve(),
    destroy: () => sqlite.close(),
  };
}
