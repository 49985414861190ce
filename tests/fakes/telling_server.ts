/**
 * An MCP server that reports on itself: its tool `tell` answers with its environment and folder as
 * JSON. With the argument `fail` it writes to standard error and ends; with `late` it never answers.
 */
const encode = (text: string) => new TextEncoder().encode(text);

if (import.meta.main) {
  const [way] = Deno.args;
  if (way === "fail") {
    Deno.stderr.writeSync(encode(`${"noise ".repeat(2000)}cannot start: ${Deno.env.get("KEY")}\n`));
    Deno.exit(1);
  }
  const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
  for await (const text of input) {
    for (const line of text.split("\n").filter(Boolean)) {
      if (way !== "late") answer(JSON.parse(line));
    }
  }
}

function answer({ id, method, params }: { id?: number; method: string; params?: unknown }): void {
  if (id === undefined) return;
  const { protocolVersion } = (params ?? {}) as { protocolVersion?: string };
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "telling", version: "1" },
    },
    "tools/list": { tools: [{ name: "tell", inputSchema: { type: "object" } }] },
    "tools/call": {
      content: [{
        type: "text",
        text: JSON.stringify({ env: Deno.env.toObject(), cwd: Deno.cwd() }),
      }],
    },
  };
  const line = JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} });
  Deno.stdout.writeSync(encode(`${line}\n`));
}
