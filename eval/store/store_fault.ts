import { AppError } from "../../shared/errors.ts";
import type { WorkerFault } from "./sqlite_worker.ts";

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

/** What the database said, from its own thread. */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  /** SQLite's primary result code; `null` for a fault that is not SQLite's. */
  readonly code: number | null;

  /** The name of the error that it was over there. */
  readonly origin: string;

  constructor({ name, message, sqliteCode }: WorkerFault) {
    super(message);
    this.origin = name;
    this.code = sqliteCode === null ? null : sqliteCode & 0xff;
  }

  get isBusy(): boolean {
    return this.code === SQLITE_BUSY || this.code === SQLITE_LOCKED;
  }
  get isForbidden(): boolean {
    return this.origin === "NotCapable" || this.origin === "PermissionDenied";
  }
  get isMissing(): boolean {
    return this.origin === "NotFound";
  }
  get isNoDatabase(): boolean {
    return this.code === SQLITE_NOTADB;
  }
  get isCorrupt(): boolean {
    return this.code === SQLITE_CORRUPT;
  }
}

/**
 * What passes by itself or with an administrator's help is told in words: a full disk and a lock
 * that another process holds. SQLite says "full" if it sees it, and "I/O error" if the system told
 * it only that a write failed. Everything else stays a fault.
 */
export function storageError(error: WorkerFault): Error {
  const fault = new StoreFault(error);
  if (fault.code === SQLITE_FULL || fault.code === SQLITE_IOERR) {
    return new AppError(
      507,
      "storage_full",
      "cannot store the run: the disk that holds EVAL_DATA is full or cannot be written",
      { cause: fault },
    );
  }
  if (fault.isBusy) {
    return new AppError(
      503,
      "storage_busy",
      "cannot store the run: another process holds the lock of the database (EVAL_DATA)",
      { cause: fault, headers: { "retry-after": "5" } },
    );
  }
  return fault;
}

/** True for a fault of the storage that may pass: there is nothing wrong with the run. */
export function isStorageFault(error: unknown): error is AppError {
  return error instanceof AppError &&
    (error.code === "storage_full" || error.code === "storage_busy");
}
