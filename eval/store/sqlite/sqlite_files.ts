import { basename, dirname, join, resolve } from "node:path";

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

/**
 * Revokes the permission to write files until the process ends. The process starts with permission
 * to write any file, because only its configuration says where the database is. The database's
 * worker, which is started before, keeps access to its folder; the thread that serves requests needs
 * none. The permission to read stays: Deno needs it to load the modules of later workers.
 */
export async function giveUpWriting(): Promise<void> {
  await Deno.permissions.revoke({ name: "write" });
}
