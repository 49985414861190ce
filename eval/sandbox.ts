/**
 * Gives up all files, for the rest of the process's life. The process starts with the right to any,
 * because only its configuration says where the database is; once that is open, its own thread has
 * the files of its folder, and the thread that speaks to the network needs none.
 */
export async function giveUpFiles(): Promise<void> {
  await Deno.permissions.revoke({ name: "read" });
  await Deno.permissions.revoke({ name: "write" });
}
