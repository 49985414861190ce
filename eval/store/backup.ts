import { backup, DatabaseSync } from "node:sqlite";
import { cannotOpen, openSqlite } from "./sqlite_connection.ts";

/**
 * Pages copied at once: all of them, in one read transaction. In smaller portions the copy would
 * start again after each write of the service. The write-ahead log lets writers continue.
 */
const PAGES = 2 ** 31 - 1;

const HAS_RUNS = "select 1 from sqlite_master where name = 'runs'";

/**
 * Copies a database into a new file as it is at this moment, also while a service writes to it, and
 * checks the copy. Throws if the target exists. The copy gets its name once it is complete, so that
 * no part of one is taken for a backup if the process is ended. Uses SQLite's online backup: `VACUUM
 * INTO` attaches a second file, which Deno forbids to a process with restricted permissions.
 */
export async function backUpDatabase(
  { path, target }: { path: string; target: string },
): Promise<void> {
  requireFree(target);
  const part = `${target}.${crypto.randomUUID().slice(0, 8)}.part`;
  try {
    await requireRuns(path);
    await copyDatabase({ path, target: part });
    requireSound(part);
    requireFree(target); // it may have appeared since
    Deno.renameSync(part, target);
  } catch (error) {
    for (const file of [part, `${part}-journal`]) await Deno.remove(file).catch(() => {});
    throw error;
  }
}

function requireFree(target: string): void {
  try {
    Deno.lstatSync(target);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  throw new Error("there is a file of that name");
}

/**
 * Without this check the copy of an empty or a wrong file would look like a backup. Opens the file
 * as the other commands do, whose errors say why it cannot be read.
 */
async function requireRuns(path: string): Promise<void> {
  const connection = await openSqlite({ path, mode: "snapshot" });
  try {
    const { rows } = await connection.query(HAS_RUNS, []);
    if (rows.length === 0) throw new Error("it has no runs: it is not a database of assay-eval");
  } catch (error) {
    throw cannotOpen(path, error);
  } finally {
    await connection.close();
  }
}

async function copyDatabase({ path, target }: { path: string; target: string }): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    // The copy has the same data, so only this user may read it.
    Deno.openSync(target, { write: true, createNew: true, mode: 0o600 }).close();
    await backup(source, target, { rate: PAGES });
  } finally {
    source.close();
  }
}

function requireSound(path: string): void {
  const copy = new DatabaseSync(path);
  try {
    // One file, without a log beside it: it can be read where nothing can be written.
    copy.prepare("pragma journal_mode = delete").get();
    const finding = String(copy.prepare("pragma quick_check(1)").get()?.quick_check);
    if (finding !== "ok") throw new Error(`the copy is damaged: ${finding}`);
  } finally {
    copy.close();
  }
}
