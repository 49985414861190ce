import { basename, dirname, join, resolve } from "node:path";

/** Real bytes, so that a file system that compresses keeps them too. */
const RESERVE_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 65_536; // the most that one call for random bytes gives

/**
 * The path of a database without links, so that one file has one lock whatever it is called. Makes
 * the folder if it is missing.
 */
export function realPathOf(path: string): string {
  const full = resolve(path);
  try {
    return Deno.realPathSync(full);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return full; // opening it says what is wrong
  }
  const target = readLink(full);
  if (target !== undefined) return realPathOf(resolve(dirname(full), target)); // to no file yet
  try {
    Deno.mkdirSync(dirname(full), { recursive: true });
    return join(Deno.realPathSync(dirname(full)), basename(full));
  } catch {
    return full;
  }
}

function readLink(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}

/** Which file it is, whatever it is called: a deleted and a new file of one name differ. */
export function identityOf(path: string): string {
  const { dev, ino } = Deno.statSync(path);
  return `${dev}/${ino}`;
}

/**
 * Locks the file itself: a second name of it (a hard link) has another `.lock` beside it. The lock
 * ends with the process. `undefined` if another process has it. Only on Linux, where it does not
 * meet SQLite's own locks.
 */
export function lockFile(path: string): Deno.FsFile | undefined {
  const file = Deno.openSync(path, { read: true, write: true });
  if (Deno.build.os !== "linux" || file.tryLockSync(true)) return file;
  file.close();
  return undefined;
}

/** Keeps room on the disk, to be given back when there is none left: deleting needs some, too. */
export function keepReserve(path: string): void {
  const file = Deno.openSync(reserveOf(path), { write: true, create: true, mode: 0o600 });
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    for (let at = file.statSync().size; at < RESERVE_BYTES; at += PIECE_BYTES) {
      file.seekSync(at, Deno.SeekMode.Start);
      file.writeSync(crypto.getRandomValues(piece));
    }
  } finally {
    file.close();
  }
}

export function releaseReserve(path: string): void {
  try {
    Deno.removeSync(reserveOf(path));
  } catch {
    // there was none
  }
}

const reserveOf = (path: string) => `${path}.reserve`;
