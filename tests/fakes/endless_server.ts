/**
 * An MCP server whose tool `flood` makes it write without end, as its argument says: one `line` of
 * output, or to `stderr`. It ends when its input ends.
 */
const encode = (text: string) => new TextEncoder().encode(text);

if (import.meta.main) {
  const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
  for await (const text of input) {
    for (const line of text.split("\n").filter(Boolean)) answer(JSON.parse(line));
  }
  Deno.exit();
}

function answer({ id, method, params }: { id?: number; method: string; params?: unknown }): void {
  if (id === undefined) return;
  if (method === "tools/call") return flood(id, Deno.args[0]);
  const { protocolVersion } = (params ?? {}) as { protocolVersion?: string };
  reply(id, {
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "s", version: "1" },
  });
}

function flood(id: number, way: string | undefined): void {
  if (way === "stderr") {
    for (let piece = 0; piece < 300; piece++) Deno.stderr.writeSync(encode("x".repeat(100_000)));
    return reply(id, { content: [{ type: "text", text: "still here" }] });
  }
  const write = async () => {
    for (;;) await Deno.stdout.write(encode("x".repeat(100_000)));
  };
  write().catch(() => Deno.exit());
}

function reply(id: number, result: unknown): void {
  Deno.stdout.writeSync(encode(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`));
}
