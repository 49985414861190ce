import { dirname } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { storageError, StoreFault } from "../store_fault.ts";
import type { WorkerCommand, WorkerReply } from "./sqlite_worker.ts";

export interface QueryResult {
  rows: unknown[];
  changes: number;
}

/** The database's worker, until it ends. */
export interface SqliteThread {
  /** Rejects as `storageError` says, and with `threadEnded` if the worker dies first. */
  send(command: WorkerCommand): Promise<QueryResult>;
  end(): void;
}

export interface ThreadOptions {
  /** Makes the worker; see `startSqliteWorker`. */
  start: () => Worker;
  /** Called once if the worker dies by itself. */
  onDeath: (reason: string) => void;
}

/**
 * The error of a call whose worker died; whether the call took effect is not known. It is temporary,
 * like the lock of another process: the database is opened again.
 */
export function threadEnded(reason: string): AppError {
  const message = `cannot use the database: its worker died (${reason}) and is being restarted`;
  const cause = new StoreFault({ name: "ThreadEnded", message: reason, sqliteCode: null });
  return new AppError(503, "storage_busy", message, { cause, headers: { "retry-after": "5" } });
}

/**
 * Not `createWorkerCall`: that one ends a call that takes too long and makes calls again after a
 * death. A statement must be neither cut nor repeated, and an open transaction dies with its thread.
 */
export function startSqliteThread({ start, onDeath }: ThreadOptions): SqliteThread {
  const waiting = new Map<number, PromiseWithResolvers<QueryResult>>();
  let nextId = 0;
  let death: AppError | undefined;
  const worker = start();

  worker.onmessage = (event: MessageEvent<WorkerReply>) => {
    const reply = event.data;
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("error" in reply) caller?.reject(storageError(reply.error));
    else caller?.resolve(reply);
  };
  worker.onerror = (event) => {
    event.preventDefault(); // otherwise it ends the process
    if (death) return;
    fail(event.message);
    onDeath(event.message);
  };

  function fail(reason: string): void {
    death = threadEnded(reason);
    worker.terminate();
    for (const caller of waiting.values()) caller.reject(death);
    waiting.clear();
  }

  return {
    send(command) {
      if (death) return Promise.reject(death);
      const id = nextId++;
      const caller = Promise.withResolvers<QueryResult>();
      waiting.set(id, caller);
      worker.postMessage({ id, ...command });
      return caller.promise;
    },
    end: () => fail("it was ended"),
  };
}

/** A worker with access to the folder of the file only; to no folder for `:memory:`. */
export function startSqliteWorker(path: string): Worker {
  const folders = path === ":memory:" ? [] : [dirname(path)];
  return new Worker(new URL("./sqlite_worker.ts", import.meta.url), {
    type: "module",
    deno: {
      permissions: { read: folders, write: folders, net: false, env: false, run: false },
    },
  });
}
