/**
 * An MCP server over standard input and output with one tool, `echo`. After some time it ends in the
 * middle of a call.
 */
const SHORTEST_LIFE_MS = 4_000;
const LONGEST_LIFE_MS = 75_000;

interface Message {
  id?: number;
  method: string;
  params?: { protocolVersion?: string; arguments?: { text?: string } };
}

const TOOL = {
  name: "echo",
  description: "Repeats a text.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

function resultOf({ method, params }: Message): unknown {
  if (method === "initialize") {
    const { protocolVersion } = params ?? {};
    const serverInfo = { name: "mortal", version: "1" };
    return { protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools: [TOOL] };
  if (method === "tools/call") {
    return { content: [{ type: "text", text: `Echo: ${params?.arguments?.text}` }] };
  }
  return {};
}

function write(message: unknown): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
  for (let written = 0; written < bytes.length;) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}

if (import.meta.main) {
  const endsAt = performance.now() + SHORTEST_LIFE_MS +
    Math.random() * (LONGEST_LIFE_MS - SHORTEST_LIFE_MS);
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message: Message = JSON.parse(line);
      if (message.method === "tools/call" && performance.now() > endsAt) Deno.exit(1);
      if (message.id !== undefined) {
        write({ jsonrpc: "2.0", id: message.id, result: resultOf(message) });
      }
    }
  }
}
