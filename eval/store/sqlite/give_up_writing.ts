/**
 * Revokes the permission to write files until the process ends. The process starts with permission
 * to write any file, because only its configuration says where the database is. The database's
 * worker, which is started before, keeps access to its folder; the thread that serves requests needs
 * none. The permission to read stays: Deno needs it to load the modules of later workers.
 */
export async function giveUpWriting(): Promise<void> {
  await Deno.permissions.revoke({ name: "write" });
}
