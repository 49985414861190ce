import { dirname, resolve } from "node:path";
import { ConfigError } from "../../shared/config.ts";
import { AppError } from "../../shared/errors.ts";
import { storageError, StoreFault } from "./store_fault.ts";
import type { WorkerCommand, WorkerReply } from "./sqlite_protocol.ts";

export interface ConnectionOptions {
  /** A file, or `:memory:`. */
  path: string;
  /** `read` looks at a file that another process may be writing; it takes no lock. */
  mode: "write" | "read";
  /** Bounds the file; for tests of a full disk. */
  maxPages?: number;
  /** How long a statement waits for another process that holds the file's lock. 5000 if unset. */
  busyTimeoutMs?: number;
}

/** SQLite on a thread of its own. */
export interface SqliteConnection {
  query(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<{ rows: unknown[]; changes: number }>;
  close(): Promise<void>;
}

/**
 * Opens a database on a thread that may touch the database's folder and nothing else. Throws
 * `ConfigError` where the file cannot be used; the message names `EVAL_DATA`.
 */
export async function openSqlite(options: ConnectionOptions): Promise<SqliteConnection> {
  const waiting = new Map<number, PromiseWithResolvers<{ rows: unknown[]; changes: number }>>();
  let nextId = 0;
  let death: Error | undefined;
  const path = options.path === ":memory:" ? options.path : resolve(options.path);
  const worker = startWorker(path);

  worker.onmessage = (event: MessageEvent<WorkerReply>) => {
    const reply = event.data;
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("error" in reply) caller?.reject(storageError(reply.error));
    else caller?.resolve(reply);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    death = new Error(`the database's thread has ended: ${event.message}`);
    for (const caller of waiting.values()) caller.reject(death);
    waiting.clear();
  };

  function send(command: WorkerCommand) {
    const id = nextId++;
    const caller = Promise.withResolvers<{ rows: unknown[]; changes: number }>();
    if (death) {
      caller.reject(death);
      return caller.promise;
    }
    waiting.set(id, caller);
    worker.postMessage({ id, ...command });
    return caller.promise;
  }

  try {
    await send({ kind: "open", ...options, path });
  } catch (error) {
    worker.terminate();
    throw cannotOpen(options.path, error);
  }
  return {
    query: (sql, parameters) => send({ kind: "query", sql, parameters }),
    async close() {
      await send({ kind: "close" });
      worker.terminate();
    },
  };
}

function startWorker(path: string): Worker {
  const folders = path === ":memory:" ? [] : [dirname(path)];
  try {
    return new Worker(new URL("./sqlite_worker.ts", import.meta.url), {
      type: "module",
      deno: {
        permissions: { read: folders, write: folders, net: false, env: false, run: false },
      },
    });
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/** Says which file could not be used, and why. */
export function cannotOpen(path: string, cause: unknown): ConfigError {
  return new ConfigError(`cannot open EVAL_DATA=${path}: ${explain(cause)}`, { cause });
}

function explain(cause: unknown): string {
  const isForbidden = (cause instanceof StoreFault && cause.isForbidden) ||
    cause instanceof Deno.errors.NotCapable;
  if (isForbidden) return "the process may not read and write that folder";
  if (cause instanceof AppError) return "the disk is full or cannot be written";
  if (!(cause instanceof StoreFault)) return cause instanceof Error ? cause.message : `${cause}`;
  if (cause.isBusy) return "another process is using it; stop that one, or name another file";
  if (cause.isCorrupt) {
    return `the file is damaged (${cause.message}); restore a backup, see docs/backup.md`;
  }
  if (cause.isNoDatabase) return "it is not a database";
  if (cause.isMissing) return "there is no such file";
  return cause.message;
}
