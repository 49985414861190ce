import { AppError } from "../../shared/errors.ts";

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

  constructor(message: string, sqliteCode: number | null) {
    super(message);
    this.code = sqliteCode === null ? null : sqliteCode & 0xff;
  }

  get isBusy(): boolean {
    return this.code === SQLITE_BUSY;
  }
  get isCorrupt(): boolean {
    return this.code === SQLITE_NOTADB || this.code === SQLITE_CORRUPT;
  }
}

/**
 * A full disk is the caller's to know: it is answered in words. SQLite says "full" where it sees it
 * and "I/O error" where the system told it only that a write failed. Everything else stays a fault.
 */
export function storageError(
  error: { message: string; name: string; sqliteCode: number | null },
): Error {
  const fault = new StoreFault(`${error.name}: ${error.message}`, error.sqliteCode);
  if (fault.code !== SQLITE_FULL && fault.code !== SQLITE_IOERR) return fault;
  return new AppError(
    507,
    "storage_full",
    "cannot store the run: the disk that holds EVAL_DATA is full or cannot be written",
    { cause: fault },
  );
}
