/**
 * Gives up writing files, for the rest of the process's life. The process starts with the right to
 * write any, because only its configuration says where the database is; once that is open, its own
 * thread has the files of its folder, and the thread that speaks to the network writes none. Reading
 * stays: Deno reads a worker's module with the rights of whoever starts the worker.
 */
export async function giveUpWriting(): Promise<void> {
  await Deno.permissions.revoke({ name: "write" });
}
