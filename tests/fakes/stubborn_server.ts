/**
 * An MCP server without tools that continues when its input ends: only a signal ends it.
 * Writes its process id to the file that `PID_FILE` names. With the argument `late` it never answers.
 */
if (import.meta.main) {
  await Deno.writeTextFile(Deno.env.get("PID_FILE")!, String(Deno.pid));
  setInterval(() => {}, 1000);
  const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
  for await (const text of input) {
    for (const line of text.split("\n").filter(Boolean)) {
      if (!Deno.args.includes("late")) answer(JSON.parse(line));
    }
  }
}

function answer({ id, method, params }: { id?: number; method: string; params?: unknown }): void {
  if (id === undefined) return;
  const { protocolVersion } = (params ?? {}) as { protocolVersion?: string };
  const result = method === "initialize"
    ? { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
    : { tools: [] };
  const line = JSON.stringify({ jsonrpc: "2.0", id, result });
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
