/// <reference lib="deno.worker" />
// Started as a Worker by sqlite_connection.ts, never imported: SQLite waits for the disk, and here it
// may, because no request is served on this thread.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { dirname } from "node:path";
import type { WorkerFault, WorkerReply, WorkerRequest } from "./sqlite_protocol.ts";

/** Batches of every size are statements of their own. */
const MAX_STATEMENTS = 200;

let database: DatabaseSync | undefined;
/** An open exclusive transaction on a file of its own. The system ends it with the process. */
let lock: DatabaseSync | undefined;
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
  else close();
  return { rows: [], changes: 0 };
}

function open({ path, mode, maxPages }: Extract<WorkerRequest, { kind: "open" }>): void {
  const isFile = path !== ":memory:";
  if (mode === "read") {
    Deno.statSync(path); // SQLite would say only that it cannot open it
    database = new DatabaseSync(path, { readOnly: true });
    configure(database, ["busy_timeout = 5000"]);
    return;
  }
  if (isFile) {
    Deno.mkdirSync(dirname(path), { recursive: true });
    lock = new DatabaseSync(`${path}.lock`);
    configure(lock, ["journal_mode = memory"]); // no second file: nothing is ever written
    lock.prepare("begin exclusive").run(); // SQLITE_BUSY at once where another process has it
  }
  database = new DatabaseSync(path);
  configure(database, [
    "busy_timeout = 5000",
    "journal_mode = wal",
    "synchronous = full",
    ...(maxPages === undefined ? [] : [`max_page_count = ${maxPages}`]),
  ]);
}

/** By prepared statements: the errors of `exec` do not carry SQLite's code. */
function configure(database: DatabaseSync, pragmas: string[]): void {
  for (const pragma of pragmas) database.prepare(`pragma ${pragma}`).all();
}

function close(): void {
  statements.clear();
  database?.close();
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
