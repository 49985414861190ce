import { AppError, type ErrorCode } from "../../shared/service/errors.ts";
import { SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR, SQLITE_LOCKED } from "./sqlite/sqlite_codes.ts";
import type { WorkerFault } from "./sqlite_worker.ts";

/** An error of the database, from its thread. */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  /** SQLite's primary result code; `null` for a fault that is not SQLite's. */
  readonly code: number | null;

  /** The name of the original error. */
  readonly origin: string;

  constructor({ name, message, sqliteCode }: WorkerFault) {
    super(message);
    this.origin = name;
    this.code = sqliteCode === null ? null : sqliteCode & 0xff;
  }

  get isMissing(): boolean {
    return this.origin === "NotFound";
  }
}

/**
 * Faults that end by themselves or with an administrator's help become an `AppError`: a full disk,
 * and a lock of another process. SQLite reports a full disk as "full" or, if the system only said
 * that a write failed, as "I/O error". Everything else stays a `StoreFault`.
 */
export function storageError(error: WorkerFault): Error {
  const fault = new StoreFault(error);
  if (fault.code === SQLITE_FULL || fault.code === SQLITE_IOERR) {
    return new AppError(
      507,
      "storage_full",
      "cannot write to the database: the disk that holds EVAL_DATA is full or cannot be written",
      { cause: fault },
    );
  }
  if (fault.code === SQLITE_BUSY || fault.code === SQLITE_LOCKED) {
    return new AppError(
      503,
      "storage_busy",
      "cannot use the database: another process holds the lock of its file (EVAL_DATA)",
      { cause: fault, headers: { "retry-after": "5" } },
    );
  }
  return fault;
}

/** What would be stored is lost at the next start: the path names another file by now, or none. */
export function fileIsGone(cause: StoreFault): AppError {
  return new AppError(
    503,
    "storage_unavailable",
    "cannot use the database: its file (EVAL_DATA) was deleted or replaced; restart the service",
    { cause },
  );
}

const STORAGE_CODES: ErrorCode[] = ["storage_full", "storage_busy", "storage_unavailable"];

/** True for a temporary fault of the storage: the run itself has not failed. */
export function isStorageFault(error: unknown): error is AppError {
  return error instanceof AppError && STORAGE_CODES.includes(error.code);
}
