/// <reference lib="deno.worker" />
// Started as a Worker by sqlite_connection.ts; other files import only its types. SQLite blocks its
// thread while it waits for the disk, so it has a thread of its own, on which no request is served.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { dirname } from "node:path";
import { SQLITE_CORRUPT } from "./sqlite/sqlite_codes.ts";

/** A message to this worker. Its reply has the same `id`. */
type SqliteRequest = { id: number } & WorkerCommand;

export interface OpenOptions {
  /** A file, or `:memory:`. */
  path: string;
  /**
   * `write`: the one process that writes. `read`: sees what is stored at each statement, and waits
   * for no writer. `snapshot`: the same, but all statements see the state of the first one.
   */
  mode: "write" | "read" | "snapshot";
  /** Limits the size of the file; for tests of a full disk. */
  maxPages?: number;
  /** How long a statement waits for the lock of another process. 5000 if unset. */
  busyTimeoutMs?: number;
}

export type WorkerCommand =
  | { kind: "open" } & OpenOptions
  | { kind: "query"; sql: string; parameters: readonly unknown[] }
  /** Fails if the path no longer names the open file. */
  | { kind: "requireInPlace" }
  /** Writes where the service of the file answers. */
  | { kind: "announce"; url: string }
  | { kind: "close" };

export interface QueryResult {
  rows: unknown[];
  changes: number;
}

export type WorkerReply = { id: number } & (QueryResult | { error: WorkerFault });

/** An error in a form that can be sent between threads. */
export interface WorkerFault {
  name: string;
  message: string;
  /** SQLite's extended result code; `null` for a fault that is not SQLite's. */
  sqliteCode: number | null;
}

/** Each batch size has its own statement. */
const MAX_STATEMENTS = 200;

/** Larger files are not checked at start: reading them would take too long. */
const CHECKED_BYTES = 1024 ** 3;
const PRIVATE = 0o600;

let database: DatabaseSync | undefined;
/** An open exclusive transaction on a separate file. The system ends it with the process. */
let lock: DatabaseSync | undefined;
let opened: { path: string; identity: string } | undefined;
const statements = new Map<string, StatementSync>();

self.onmessage = (event: MessageEvent<SqliteRequest>) => {
  const request = event.data;
  let reply: WorkerReply;
  try {
    reply = { id: request.id, ...perform(request) };
  } catch (error) {
    reply = { id: request.id, error: describe(error) };
  }
  self.postMessage(reply);
};

function perform(request: SqliteRequest): QueryResult {
  if (request.kind === "query") return query(request);
  if (request.kind === "open") open(request);
  else if (request.kind === "requireInPlace") requireInPlace();
  else if (request.kind === "announce") announce(request.url);
  else close();
  return { rows: [], changes: 0 };
}

function open({ path, mode, maxPages, busyTimeoutMs = 5000 }: OpenOptions): void {
  const isFile = path !== ":memory:";
  if (mode !== "write") {
    if (mode === "snapshot") requireReadable(path);
    database = new DatabaseSync(path, { readOnly: true });
    configure(database, [`busy_timeout = ${busyTimeoutMs}`]);
    if (mode === "snapshot") database.prepare("begin").run(); // it is taken at the first read
    return;
  }
  if (isFile) {
    Deno.mkdirSync(dirname(path), { recursive: true });
    for (const file of [path, `${path}.lock`]) makePrivate(file);
    requireOneName(path);
    lock = new DatabaseSync(`${path}.lock`);
    configure(lock, ["journal_mode = memory"]); // no journal file: nothing is ever written
    lock.prepare("begin exclusive").run(); // SQLITE_BUSY at once if another process has it
    opened = { path, identity: identityOf(path) };
    removeAddress(path); // of a process that was killed
  }
  database = new DatabaseSync(path);
  configure(database, [
    `busy_timeout = ${busyTimeoutMs}`,
    "journal_mode = wal",
    "synchronous = full",
    "secure_delete = on", // what is deleted is overwritten
    ...(maxPages === undefined ? [] : [`max_page_count = ${maxPages}`]),
  ]);
  if (isFile && Deno.statSync(path).size <= CHECKED_BYTES) requireSound(database);
}

/**
 * Throws NotFound or PermissionDenied; SQLite would only say that it cannot open it. Not in a process
 * that has the database open: closing a file ends all locks that the process has on it.
 */
function requireReadable(path: string): void {
  if (Deno.statSync(path).isDirectory) throw new Deno.errors.IsADirectory("it is a folder");
  Deno.openSync(path).close();
}

/** Only this user may read replies and test data. SQLite gives its other files the same mode. */
function makePrivate(path: string): void {
  Deno.openSync(path, { write: true, create: true, mode: PRIVATE }).close();
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      Deno.chmodSync(file, PRIVATE);
    } catch {
      // missing, or owned by another user: opening it reports whether it can be used
    }
  }
}

/** Reads the whole file and throws if it is damaged. */
function requireSound(database: DatabaseSync): void {
  const [row] = database.prepare("pragma quick_check(1)").all();
  const finding = String(row?.quick_check);
  if (finding === "ok") return;
  throw Object.assign(new Error(finding), { errcode: SQLITE_CORRUPT });
}

/** Each name of a file would have a lock of its own, and two processes would write the file. */
function requireOneName(path: string): void {
  const { nlink } = Deno.statSync(path);
  if (nlink === null || nlink === 1) return;
  throw new Error("it has a second name (a hard link); remove the other one, or copy the file");
}

/** Identifies a file independently of its name: a new file of the same name differs. */
function identityOf(path: string): string {
  const { dev, ino } = Deno.statSync(path);
  return `${dev}/${ino}`;
}

/** Throws if the path no longer names the open file: runs stored there would be lost. */
function requireInPlace(): void {
  if (opened && identityOf(opened.path) !== opened.identity) {
    throw new Deno.errors.NotFound("the path names another file");
  }
}

/** Uses prepared statements: the errors of `exec` do not have SQLite's code. */
function configure(database: DatabaseSync, pragmas: string[]): void {
  for (const pragma of pragmas) database.prepare(`pragma ${pragma}`).all();
}

function announce(url: string): void {
  if (opened) Deno.writeTextFileSync(`${opened.path}.address`, url, { mode: PRIVATE });
}

function removeAddress(path: string): void {
  try {
    Deno.removeSync(`${path}.address`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function close(): void {
  if (opened) removeAddress(opened.path);
  statements.clear();
  database?.close();
  lock?.close();
}

function query({ sql, parameters }: Extract<WorkerCommand, { kind: "query" }>): QueryResult {
  const statement = prepare(sql);
  const values = parameters as SQLInputValue[];
  if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
  return { rows: [], changes: Number(statement.run(...values).changes) };
}

function prepare(sql: string): StatementSync {
  let statement = statements.get(sql);
  if (!statement) {
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    statement = database!.prepare(sql);
    statements.set(sql, statement);
  }
  return statement;
}

function describe(error: unknown): WorkerFault {
  const { message, name, errcode } = error as Error & { errcode?: number };
  return { message, name, sqliteCode: errcode ?? null };
}
