/**
 * The protocol's own test server, `stdio` or `streamableHttp`, pinned with everything else that the
 * tests use. Writes its process id to the file that `PID_FILE` names, so that a test can end it.
 */
if (import.meta.main) {
  const file = Deno.env.get("PID_FILE");
  if (file) await Deno.writeTextFile(file, String(Deno.pid));
  await import("npm:@modelcontextprotocol/server-everything@2026.8.31/dist/index.js");
}
