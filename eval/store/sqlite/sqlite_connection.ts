import type { WorkerEvent } from "../../../shared/background/worker_call.ts";
import { ConfigError } from "../../../shared/config/config.ts";
import { AppError } from "../../../shared/errors.ts";
import { realPathOf } from "./sqlite_files.ts";
import type { Statement, WorkerCommand } from "./sqlite_worker.ts";
import {
  type QueryResult,
  type SqliteThread,
  startSqliteThread,
  startSqliteWorker,
  threadEnded,
} from "./sqlite_thread.ts";
import { StoreFault } from "../store_fault.ts";

export interface ConnectionOptions {
  /** A file, or `:memory:`. */
  path: string;
  /** `read` opens a file that another process may be writing, without a lock. */
  mode: "write" | "read";
  /** Limits the size of the file; for tests of a full disk. */
  maxPages?: number;
  /** How long a statement waits for the lock of another process. 5000 if unset. */
  busyTimeoutMs?: number;
  /** Called if the database's worker dies, and when it works again. */
  onEvent?: (event: WorkerEvent) => void;
  /**
   * Workers to start now in case one dies later: a process that has revoked its write permission
   * cannot start one that has it. 0 if unset.
   */
  spares?: number;
  /** For tests of a worker that dies. */
  start?: (path: string) => Worker;
}

/** SQLite on a thread of its own. */
export interface SqliteConnection {
  query(sql: string, parameters: readonly unknown[]): Promise<QueryResult>;
  /**
   * Executes whole transactions with one message. If it rejects, a transaction may be open: close
   * the connection.
   */
  queryAll(statements: readonly Statement[]): Promise<void>;
  /** Rejects if the path no longer names the file that is open. */
  requireInPlace(): Promise<void>;
  /** Frees room on a full disk, so that runs can be deleted. */
  makeRoom(): Promise<void>;
  /** Creates the reserve again; rejects if there is no room. */
  keepRoom(): Promise<void>;
  close(): Promise<void>;
}

/** A worker that died still holds its lock for a moment. */
const LOCK_WAIT_MS = 50;
const LOCK_TRIES = 60;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

/**
 * Opens a database on a thread that may touch the database's folder and nothing else. Throws
 * `ConfigError` if the file cannot be used; the message names `EVAL_DATA`.
 *
 * If the thread dies, its calls are rejected, and so is the rest of an open transaction, which must
 * not continue outside of it. The next call opens the file again. A database in memory is lost with
 * its thread, and a reader would see another snapshot than before: they stay closed.
 */
export async function openSqlite(options: ConnectionOptions): Promise<SqliteConnection> {
  const { onEvent, start = startSqliteWorker, spares: spareCount = 0, ...where } = options;
  const makesFolder = where.mode === "write";
  const path = where.path === ":memory:" ? where.path : realPathOf(where.path, { makesFolder });
  if (path === ":memory:" && where.mode === "read") throw cannotOpen(path, new Error(IN_MEMORY));
  const canReopen = where.mode === "write" && path !== ":memory:";
  const spares: Worker[] = [];
  let thread: SqliteThread | undefined;
  let opening: Promise<SqliteThread> | undefined;
  let fault: Error | undefined;
  let deaths = 0;
  let failedStarts = 0;
  let retryAt = 0;
  let isInTransaction = false;
  let isTransactionLost = false;

  function startOrTakeSpare(): Worker {
    try {
      return start(path);
    } catch (error) {
      const spare = spares.pop();
      if (!spare) throw error;
      return spare;
    }
  }

  async function begin(): Promise<SqliteThread> {
    const started = startSqliteThread({
      start: startOrTakeSpare,
      onDeath: (reason) => {
        if (thread !== started) return; // it was never open: opening it rejects
        thread = undefined;
        isTransactionLost = isInTransaction;
        noteDeath(canReopen ? threadEnded(reason) : closedByDeath(reason));
      },
    });
    try {
      await started.send({ kind: "open", ...where, path });
      return started;
    } catch (error) {
      started.end();
      throw error;
    }
  }

  function noteDeath(error: Error): void {
    fault = error;
    const retryInMs = failedStarts === 0
      ? 0
      : Math.min(FIRST_DELAY_MS * 2 ** (failedStarts - 1), LONGEST_DELAY_MS);
    retryAt = performance.now() + retryInMs;
    onEvent?.({ kind: "died", reason: error.message, deaths: ++deaths, failedStarts, retryInMs });
  }

  async function reopen(): Promise<SqliteThread> {
    if (!canReopen || performance.now() < retryAt) throw fault!;
    onEvent?.({ kind: "restarted" });
    try {
      const opened = await withLock(begin);
      failedStarts = 0;
      onEvent?.({ kind: "recovered" });
      return thread = opened;
    } catch (error) {
      failedStarts++;
      noteDeath(error as Error);
      throw error;
    }
  }

  async function current(): Promise<SqliteThread> {
    return thread ?? await (opening ??= reopen().finally(() => opening = undefined));
  }

  const command = (kind: WorkerCommand["kind"]) => async () => {
    await (await current()).send({ kind } as WorkerCommand);
  };

  async function send(sql: string, parameters: readonly unknown[]): Promise<QueryResult> {
    const step = /^(begin|commit|rollback)\b/i.exec(sql)?.[1]?.toLowerCase();
    if (isTransactionLost) {
      if (step !== "begin" && step !== "rollback") throw fault!;
      isTransactionLost = isInTransaction = false;
      if (step === "rollback") return { rows: [], changes: 0 };
    }
    if (step === "commit" || step === "rollback") isInTransaction = false;
    const result = await (await current()).send({ kind: "query", sql, parameters });
    if (step === "begin") isInTransaction = true;
    return result;
  }

  try {
    thread = await begin();
    for (let spare = 0; spare < spareCount; spare++) spares.push(start(path));
  } catch (error) {
    throw cannotOpen(where.path, error);
  }
  return {
    query: send,
    async queryAll(statements) {
      await (await current()).send({ kind: "queries", statements });
    },
    requireInPlace: command("requireInPlace"),
    makeRoom: command("makeRoom"),
    keepRoom: command("keepRoom"),
    async close() {
      await thread?.send({ kind: "close" });
      thread?.end();
      thread = undefined;
      for (const spare of spares.splice(0)) spare.terminate();
      fault = new Error("the database is closed");
      retryAt = Infinity;
    },
  };
}

/** The error of a database that is not opened again. */
function closedByDeath(reason: string): StoreFault {
  const message = `the database is closed: its worker died (${reason})`;
  return new StoreFault({ name: "ThreadEnded", message, sqliteCode: null });
}

async function withLock(open: () => Promise<SqliteThread>): Promise<SqliteThread> {
  for (let tries = 1;; tries++) {
    try {
      return await open();
    } catch (error) {
      const isHeld = error instanceof AppError && error.code === "storage_busy";
      if (!isHeld || tries === LOCK_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
    }
  }
}

/** An error that says which file cannot be used, and why. */
export function cannotOpen(path: string, cause: unknown): ConfigError {
  return new ConfigError(`cannot open EVAL_DATA=${path}: ${explain(cause)}`, { cause });
}

const IN_MEMORY = "a database in memory can be read by its own process only; set a file";
const FULL = "the disk is full or cannot be written";

function explain(cause: unknown): string {
  const isForbidden = (cause instanceof StoreFault && cause.isForbidden) ||
    cause instanceof Deno.errors.NotCapable;
  if (isForbidden) return "the process has no permission to read and write that folder";
  if (cause instanceof AppError) {
    return explain(cause.code === "storage_busy" ? cause.cause : new Error(FULL));
  }
  if (!(cause instanceof StoreFault)) return cause instanceof Error ? cause.message : `${cause}`;
  if (cause.isBusy) return "another process is using it; stop that process, or set another file";
  if (cause.isCorrupt) {
    return `the file is damaged (${cause.message}); restore a backup, see docs/backup.md`;
  }
  if (cause.isReadOnly) {
    return "its folder cannot be written, where files beside it belong (-wal, -shm); copy it elsewhere";
  }
  if (cause.isNoDatabase) return "it is not a database";
  if (cause.isMissing) return "there is no such file";
  return cause.message;
}
