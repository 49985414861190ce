import { AppError } from "../errors.ts";

/** How long a caller should wait before it tries again, in seconds. */
const RETRY_SECONDS = 5;

const DISK_FULL = "53100";
/** The server takes no changes, as after a failover. */
const READ_ONLY = "25006";
/** `max_connections` is reached, of the server, the database or the role. */
const TOO_MANY_CONNECTIONS = "53300";
/** The password is wrong, or the role may not log in, as while credentials are rotated. */
const REFUSED_LOGIN = "28";
const NO_SUCH_DATABASE = "3D000";
/** By `statement_timeout`; the driver's own limit has no code. */
const TIMED_OUT = "57014";
const TIMED_OUT_HERE = /query read timeout/i;
/** By `lock_timeout`, while another session holds a table, as for maintenance. */
const LOCKED = "55P03";

/** Why the database cannot be used, by SQLSTATE code or class. */
const REASONS: [code: string, reason: string][] = [
  [READ_ONLY, "it is read-only"],
  [
    TOO_MANY_CONNECTIONS,
    "it accepts no further connection (its limit, such as max_connections, is reached)",
  ],
  [REFUSED_LOGIN, "it refuses the role or its password"],
  [LOCKED, "another session holds a lock for too long"],
  [NO_SUCH_DATABASE, "there is no database of this name on the server"],
  [TIMED_OUT, "a statement took longer than its time limit"],
];

/** Classes and codes of SQLSTATE for temporary faults, some of which an administrator must end. */
const TEMPORARY = [
  "08", // connection exceptions
  "53", // insufficient resources: connections, memory
  TIMED_OUT,
  "57P", // the server is stopping or starting
  "58", // errors of the server's system
  READ_ONLY,
  REFUSED_LOGIN,
  NO_SUCH_DATABASE,
  LOCKED,
  "40001", // serialization
  "40P01", // deadlock
];

/** The messages of `pg` for a connection that was lost, or that was not made in time. */
const LOST = /connection terminated|connection ended|timeout|not queryable|cannot use a pool/i;

/** True if the server accepts no further connection; existing ones can still be used. */
export function isConnectionLimit(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === TOO_MANY_CONNECTIONS;
}

/** True if the connection itself failed, so that it must not be used again. */
export function isConnectionFault(error: unknown): boolean {
  const { code, message = "" } = (error ?? {}) as { code?: unknown; message?: string };
  if (typeof code !== "string") return LOST.test(message);
  return /^(E[A-Z]{3,}|08|57P)/.test(code);
}

/**
 * Temporary faults of the database become an `AppError` that callers may read: 503
 * `storage_unavailable`, 507 `storage_full` if its disk is full. Everything else stays as it is.
 */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const { code } = (error ?? {}) as { code?: unknown };
  if (code === DISK_FULL) {
    return new AppError(507, "storage_full", "cannot store: the disk of the database is full", {
      cause: error,
    });
  }
  const isTemporary = typeof code === "string" && TEMPORARY.some((known) => code.startsWith(known));
  return isTemporary || isConnectionFault(error) ? unavailable(error) : error;
}

/** 503: the database cannot be reached, does not answer in time, or refuses the service. */
export function unavailable(cause?: unknown): AppError {
  const { code: own, message = "" } = (cause ?? {}) as { code?: unknown; message?: string };
  const code = TIMED_OUT_HERE.test(message) ? TIMED_OUT : own;
  const [, reason] = REASONS.find(([known]) => String(code).startsWith(known)) ??
    ["", "it cannot be reached or does not answer"];
  return new AppError(
    503,
    "storage_unavailable",
    `cannot use the database: ${reason}; retry in ${RETRY_SECONDS} s`,
    { cause, headers: { "retry-after": String(RETRY_SECONDS) } },
  );
}
