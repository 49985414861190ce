/// <reference lib="deno.worker" />
// Started as a Worker by sqlite_connection.ts, never imported: SQLite waits for the disk, and here it
// may, because no request is served on this thread.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { dirname } from "node:path";
import { identityOf, keepReserve, lockFile, releaseReserve } from "./sqlite_files.ts";
import type { WorkerFault, WorkerReply, WorkerRequest } from "./sqlite_protocol.ts";

/** Batches of every size are statements of their own. */
const MAX_STATEMENTS = 200;

/** Larger files are not checked at the start: reading them would take too long. */
const CHECKED_BYTES = 1024 ** 3;
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const PRIVATE = 0o600;

let database: DatabaseSync | undefined;
/** An open exclusive transaction on a file of its own. The system ends it with the process. */
let lock: DatabaseSync | undefined;
/** The database's own file. Not to be closed before the database: that would end SQLite's locks. */
let file: Deno.FsFile | undefined;
let opened: { path: string; identity: string } | undefined;
const statements = new Map<string, StatementSync>();

self.onmessage = (event: MessageEvent<WorkerRequest>) => {
  const request = event.data;
  let reply: WorkerReply;
  try {
    reply = { id: request.id, ...perform(request) };
  } catch (error) {
    reply = { id: request.id, error: describe(error) };
  }
  self.postMessage(reply);
};

function perform(request: WorkerRequest): { rows: unknown[]; changes: number } {
  if (request.kind === "query") return query(request.sql, request.parameters as SQLInputValue[]);
  if (request.kind === "open") open(request);
  else if (request.kind === "requireInPlace") requireInPlace();
  else if (request.kind === "makeRoom") makeRoom();
  else if (request.kind === "keepRoom") keepRoom();
  else close();
  return { rows: [], changes: 0 };
}

function open(
  { path, mode, maxPages, busyTimeoutMs = 5000 }: Extract<WorkerRequest, { kind: "open" }>,
): void {
  const isFile = path !== ":memory:";
  if (mode === "read") {
    Deno.statSync(path); // SQLite would say only that it cannot open it
    database = new DatabaseSync(path, { readOnly: true });
    configure(database, [`busy_timeout = ${busyTimeoutMs}`]);
    database.prepare("begin").run(); // one snapshot for all that is read, from the first read on
    return;
  }
  if (isFile) {
    Deno.mkdirSync(dirname(path), { recursive: true });
    for (const file of [path, `${path}.lock`]) makePrivate(file);
    lock = new DatabaseSync(`${path}.lock`);
    configure(lock, ["journal_mode = memory"]); // no second file: nothing is ever written
    lock.prepare("begin exclusive").run(); // SQLITE_BUSY at once if another process has it
    file = lockFile(path);
    if (!file) throw Object.assign(new Error("the file is locked"), { errcode: SQLITE_BUSY });
    opened = { path, identity: identityOf(path) };
  }
  database = new DatabaseSync(path);
  configure(database, [
    `busy_timeout = ${busyTimeoutMs}`,
    "journal_mode = wal",
    "synchronous = full",
    ...(maxPages === undefined ? [] : [`max_page_count = ${maxPages}`]),
  ]);
  if (isFile && Deno.statSync(path).size <= CHECKED_BYTES) requireSound(database);
}

/** Replies and test data are for this user's eyes only. SQLite gives its other files this mode. */
function makePrivate(path: string): void {
  Deno.openSync(path, { write: true, create: true, mode: PRIVATE }).close();
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      Deno.chmodSync(file, PRIVATE);
    } catch {
      // it is not there, or somebody else's: whether it can be used, SQLite will say
    }
  }
}

/** Reads the whole file and throws if its pages do not fit together. */
function requireSound(database: DatabaseSync): void {
  const [row] = database.prepare("pragma quick_check(1)").all();
  const finding = String(row?.quick_check);
  if (finding === "ok") return;
  throw Object.assign(new Error(finding), { errcode: SQLITE_CORRUPT });
}

/** Throws if the open file is no longer the one that the path names: nobody would find its runs. */
function requireInPlace(): void {
  if (opened && identityOf(opened.path) !== opened.identity) {
    throw new Deno.errors.NotFound("the path names another file");
  }
}

/** Gives up the reserve, and moves what was written into the database: its log is then empty. */
function makeRoom(): void {
  if (opened) releaseReserve(opened.path);
  configure(database!, ["wal_checkpoint(truncate)"]);
}

function keepRoom(): void {
  configure(database!, ["wal_checkpoint(truncate)"]);
  if (opened) keepReserve(opened.path);
}

/** By prepared statements: the errors of `exec` do not carry SQLite's code. */
function configure(database: DatabaseSync, pragmas: string[]): void {
  for (const pragma of pragmas) database.prepare(`pragma ${pragma}`).all();
}

function close(): void {
  statements.clear();
  database?.close();
  file?.close();
  lock?.close();
}

function query(sql: string, parameters: SQLInputValue[]): { rows: unknown[]; changes: number } {
  const statement = prepare(sql);
  if (statement.columns().length > 0) return { rows: statement.all(...parameters), changes: 0 };
  return { rows: [], changes: Number(statement.run(...parameters).changes) };
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
