import { assert, assertEquals } from "@std/assert";
import { connectMcp } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { type ReceivedRequest, startProviderDouble } from "../../fakes/provider_double.ts";

type Farewell = (request: ReceivedRequest) => Response | Promise<Response>;

/** A server over HTTP with one session, and no tools. */
function startServer(farewell: Farewell) {
  return startProviderDouble((request) => {
    if (request.method === "DELETE") return farewell(request);
    if (request.method === "GET") return new Response(null, { status: 405 });
    const { id, method } = request.body;
    if (id === undefined) return new Response(null, { status: 202 });
    const result = method === "initialize"
      ? {
        protocolVersion: request.body.params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "double", version: "1" },
      }
      : { tools: [] };
    return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "s-1" } });
  });
}

/** Opens a session and closes it; answers what went wrong in between, and how long closing took. */
async function connectAndClose(origin: string) {
  const [server] = parseMcpConfig(JSON.stringify({
    mcpServers: { web: { url: `${origin}/mcp`, headers: { authorization: "Bearer k" } } },
  }));
  const news: string[] = [];
  const session = await connectMcp(server!, {
    onClose: () => news.push("closed"),
    onError: () => news.push("error"),
    onToolsChanged: () => news.push("changed"),
  });
  assertEquals(await session.listTools(), []);
  const started = performance.now();
  await session.close();
  return { news, ms: performance.now() - started };
}

Deno.test("a session over HTTP is ended with a DELETE of its id, and that is nobody's news", async () => {
  await using server = await startServer(() => new Response(null, { status: 204 }));
  const { news } = await connectAndClose(server.origin);
  const { method, path, headers } = server.requests.at(-1)!;
  assertEquals([method, path, headers.get("mcp-session-id")], ["DELETE", "/mcp", "s-1"]);
  assertEquals(headers.get("authorization"), "Bearer k");
  assertEquals(news, []);
});

const UNKIND: Record<string, Farewell> = {
  "does not know DELETE": () => new Response(null, { status: 405 }),
  "refuses it": () => new Response("no", { status: 500 }),
  "cuts the connection": () => Promise.reject(new Error("cut")),
};

for (const [what, farewell] of Object.entries(UNKIND)) {
  Deno.test(`a server that ${what} is left all the same`, async () => {
    await using server = await startServer(farewell);
    const { news } = await connectAndClose(server.origin);
    assertEquals([server.requests.at(-1)?.method, news], ["DELETE", []]);
  });
}

Deno.test("a server that does not answer to the farewell is waited for a second, and no longer", async () => {
  await using server = await startServer(({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("left"))))
  );
  const { ms } = await connectAndClose(server.origin);
  assert(ms > 900 && ms < 3_000, `${ms}`);
  await server.aborted();
});
