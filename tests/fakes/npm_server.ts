/**
 * Runs an MCP server from npm, pinned with everything else that the tests use: the first argument is
 * the package, the others are the server's.
 */
if (import.meta.main) {
  const [name, ...rest] = Deno.args;
  const { default: process } = await import("node:process");
  process.argv.splice(2, process.argv.length, ...rest);
  if (name === "@modelcontextprotocol/server-filesystem") {
    await import("@modelcontextprotocol/server-filesystem/dist/index.js");
  } else if (name === "@modelcontextprotocol/server-memory") {
    await import("@modelcontextprotocol/server-memory/dist/index.js");
  } else throw new Error(`unknown package ${name}`);
}
