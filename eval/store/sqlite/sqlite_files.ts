import { basename, dirname, join, resolve } from "node:path";

/** Written as random bytes, so that a compressing file system keeps their size. */
const RESERVE_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 65_536; // the maximum of `crypto.getRandomValues`

/**
 * The path of a database without symbolic links, so that one file has one lock under every name.
 * Creates the folder if it is missing and `makesFolder` is set.
 */
export function realPathOf(path: string, { makesFolder }: { makesFolder: boolean }): string {
  const full = resolve(path);
  try {
    return Deno.realPathSync(full);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return full; // opening it reports the reason
  }
  const target = readLink(full);
  if (target !== undefined) { // which does not exist yet
    return realPathOf(resolve(dirname(full), target), { makesFolder });
  }
  try {
    if (makesFolder) Deno.mkdirSync(dirname(full), { recursive: true });
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

/** Identifies a file independently of its name: a new file of the same name differs. */
export function identityOf(path: string): string {
  const { dev, ino } = Deno.statSync(path);
  return `${dev}/${ino}`;
}

/**
 * Locks the file itself, because a hard link to it has another `.lock` file. The lock ends with the
 * process. Returns `undefined` if another process has it. Locks only on Linux, where this does not
 * interfere with SQLite's own locks.
 */
export function lockFile(path: string): Deno.FsFile | undefined {
  const file = Deno.openSync(path, { read: true, write: true });
  if (Deno.build.os !== "linux" || file.tryLockSync(true)) return file;
  file.close();
  return undefined;
}

/** Writes a file that can be deleted on a full disk: deleting runs needs room, too. */
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
    // it does not exist
  }
}

const reserveOf = (path: string) => `${path}.reserve`;
