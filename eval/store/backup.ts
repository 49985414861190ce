import { backup, DatabaseSync } from "node:sqlite";

/**
 * Pages copied at once: all of them, in one read of one state. In smaller portions the copy would
 * begin again after each write of the service. Writers are not held up, thanks to the WAL.
 */
const PAGES = 2 ** 31 - 1;

/**
 * Copies a database into a new file as it is at this moment, also while a service writes to it, and
 * checks the copy. Throws if the target exists. SQLite's online backup, because Deno does not let a
 * process that runs with permissions attach a second file, which `VACUUM INTO` does.
 */
export async function backUpDatabase(
  { path, target }: { path: string; target: string },
): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    // It holds what the database holds, so nobody else may read it either.
    Deno.openSync(target, { write: true, createNew: true, mode: 0o600 }).close();
    await backup(source, target, { rate: PAGES });
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(target, { readOnly: true });
  try {
    const finding = String(copy.prepare("pragma quick_check(1)").get()?.quick_check);
    if (finding !== "ok") throw new Error(`the copy is damaged: ${finding}`);
  } finally {
    copy.close();
  }
}
