import { dirname, join } from "node:path";
import { errorMessage } from "../../../shared/service/errors.ts";
import { gatherPieces } from "../../../shared/http/answer.ts";
import { UsageError } from "../command.ts";

const SANDBOX = "the program has no permission for this path";

/** The text of a file; `-` is standard input. */
export async function readText(path: string): Promise<string> {
  return (await Array.fromAsync(readPieces(path))).join("");
}

/** The same while it is read. */
export async function* readPieces(path: string): AsyncGenerator<string> {
  try {
    const bytes = path === "-" ? Deno.stdin.readable : (await Deno.open(path)).readable;
    yield* bytes.pipeThrough(new TextDecoderStream("utf-8", { fatal: true }));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`cannot read ${path}: it is not UTF-8`);
    throw explainAll(`cannot read ${path}`, error);
  }
}

/** The absolute path of a file or folder, without links. */
export async function realPath(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    throw explainAll(`cannot read ${path}`, error);
  }
}

/**
 * Writes a file piece by piece. An existing file is replaced once the new one is complete, so a full
 * disk does not destroy it.
 */
export async function writeText(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw explainAll(`cannot write ${path}`, error);
    });
  const { file, temporary, target } = await explained(openForWriting(path));
  try {
    try {
      const encoder = new TextEncoder();
      for await (const piece of gatherPieces(pieces)) {
        await explained(writeAll(file, encoder.encode(piece)));
      }
      if (temporary !== undefined) await explained(file.sync());
    } finally {
      file.close();
    }
    if (temporary !== undefined) await explained(replace(target, temporary));
  } catch (error) {
    if (temporary !== undefined) await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

interface OpenedFile {
  file: Deno.FsFile;
  /** Where `file` is until it is complete; unset if it is `target` itself. */
  temporary?: string;
  target: string;
}

async function openForWriting(path: string): Promise<OpenedFile> {
  // Behind a link the file is replaced, and not the link.
  const target = await Deno.realPath(path).catch(() => path);
  const existing = await Deno.stat(target).catch(() => undefined);
  const options = { write: true, create: true };
  if (existing) {
    const file = await Deno.open(target, options); // fails if it is write-protected
    if (!existing.isFile) return { file, target }; // such as /dev/stdout, or a named pipe
    file.close();
  }
  const temporary = join(dirname(target), `.assay-${crypto.randomUUID()}.tmp`);
  let file: Deno.FsFile;
  try {
    file = await Deno.open(temporary, { write: true, createNew: true });
  } catch (error) {
    if (!isClosed(error)) throw error;
    return { file: await Deno.open(target, { ...options, truncate: true }), target };
  }
  if (existing?.mode) await Deno.chmod(temporary, existing.mode & 0o777).catch(() => {});
  return { file, temporary, target };
}

async function replace(target: string, temporary: string): Promise<void> {
  try {
    await Deno.rename(temporary, target);
  } catch {
    // A file that is mounted by itself, as into a container, can only be overwritten.
    await Deno.copyFile(temporary, target);
    await Deno.remove(temporary);
  }
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await file.write(rest));
}

/** Checks without writing: an existing file stays as it is until there is something to write. */
export async function requireWritable(path: string): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "write", path });
  if (state !== "granted") throw new UsageError(`cannot write ${path}: ${SANDBOX}`);
  try {
    await Deno.stat(dirname(path));
  } catch (error) {
    throw explain(`cannot write ${path}`, error);
  }
}

function explain(attempt: string, error: unknown): unknown {
  if (error instanceof Deno.errors.NotFound) {
    return new UsageError(`${attempt}: no such file or folder`);
  }
  if (error instanceof Deno.errors.NotCapable) return new UsageError(`${attempt}: ${SANDBOX}`);
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.IsADirectory) {
    return new UsageError(`${attempt}: ${error.message}`);
  }
  return error;
}

/** Any error of reading or writing a file as `UsageError`. */
function explainAll(attempt: string, error: unknown): unknown {
  const explained = explain(attempt, error);
  if (explained instanceof UsageError) return explained;
  return new UsageError(`${attempt}: ${errorMessage(error)}`);
}

/** Whether a folder takes no new files, though files in it may be writable. */
function isClosed(error: unknown): boolean {
  return error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotCapable ||
    (error instanceof Error && "code" in error && error.code === "EROFS");
}
