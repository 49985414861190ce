import { AppError } from "../../shared/errors.ts";
import type { WorkerFault } from "./sqlite_protocol.ts";

const SQLITE_BUSY = 5;
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
    return this.code === SQLITE_BUSY;
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
 * A full disk is the caller's to know: it is answered in words. SQLite says "full" where it sees it
 * and "I/O error" where the system told it only that a write failed. Everything else stays a fault.
 */
export function storageError(error: WorkerFault): Error {
  const fault = new StoreFault(error);
  if (fault.code !== SQLITE_FULL && fault.code !== SQLITE_IOERR) return fault;
  return new AppError(
    507,
    "storage_full",
    "cannot store the run: the disk that holds EVAL_DATA is full or cannot be written",
    { cause: fault },
  );
}
