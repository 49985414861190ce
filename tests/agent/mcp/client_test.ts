import { assert, assertEquals, assertRejects } from "@std/assert";
import { connectMcp } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { AnswerTooLarge } from "../../../shared/http/bounded_fetch.ts";
import { type ReceivedRequest, startProviderDouble } from "../../fakes/provider_double.ts";

type Farewell = (request: ReceivedRequest) => Response | Promise<Response>;

interface ServerOptions {
  farewell?: Farewell;
  /** The result of `tools/list`. */
  list?: (cursor: string | undefined) => unknown;
  /** The answer to a call of a tool. */
  call?: (request: ReceivedRequest) => Response;
  /** The answer to a client that listens. */
  listen?: () => Response;
}

/** A server over HTTP with one session; it has no tools unless `list` says so. */
function startServer(options: ServerOptions = {}) {
  const {
    farewell = () => new Response(null, { status: 204 }),
    list = () => ({ tools: [] }),
    listen = () => new Response(null, { status: 405 }),
  } = options;
  return startProviderDouble((request) => {
    if (request.method === "DELETE") return farewell(request);
    if (request.method === "GET") return listen();
    const { id, method, params } = request.body;
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === "tools/call" && options.call) return options.call(request);
    const result = method === "initialize"
      ? {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "double", version: "1" },
      }
      : list(params.cursor);
    return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "s-1" } });
  });
}

async function connect(entry: Record<string, unknown>) {
  const [server] = parseMcpConfig(JSON.stringify({ mcpServers: { it: entry } }));
  const news: string[] = [];
  const closed = Promise.withResolvers<string>();
  const session = await connectMcp(server!, {
    onClose: closed.resolve,
    onError: () => news.push("error"),
    onToolsChanged: () => news.push("changed"),
  });
  return { session, news, closed: closed.promise };
}

const connectTo = ({ origin }: { origin: string }) =>
  connect({ url: `${origin}/mcp`, headers: { authorization: "Bearer k" } });

/** Opens a session and closes it; answers what went wrong in between. */
async function connectAndClose(server: { origin: string }): Promise<string[]> {
  const { session, news, closed } = await connectTo(server);
  assertEquals(await session.listTools(), { tools: [] });
  await session.close();
  void closed.then(() => news.push("closed"));
  await Promise.resolve();
  return news;
}

Deno.test("a session over HTTP is ended with a DELETE of its id, and that is nobody's news", async () => {
  await using server = await startServer();
  const news = await connectAndClose(server);
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
    await using server = await startServer({ farewell });
    const news = await connectAndClose(server);
    assertEquals([server.requests.at(-1)?.method, news], ["DELETE", []]);
  });
}

Deno.test("a server that does not answer the farewell is left all the same", async () => {
  await using server = await startServer({
    farewell: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("left")))),
  });
  await connectAndClose(server); // its answer never comes: only our own limit ends this
  await server.aborted();
});

Deno.test("a list of tools that never ends is left, and what was read is used", async () => {
  let pages = 0;
  await using server = await startServer({
    list: () => ({
      tools: Array.from({ length: 20 }, (_, index) => ({
        name: `tool-${pages}-${index}`,
        description: "x".repeat(1_000),
        inputSchema: { type: "object" },
      })),
      nextCursor: `${++pages}`,
    }),
  });
  const { session } = await connectTo(server);
  const { tools, leftOut } = await session.listTools();
  assertEquals([tools.length, leftOut, pages], [1_000, "over 1000 tools", 51]);
  await session.close();
});

Deno.test("an output schema that no validator takes does not cost the list", async () => {
  const tool = {
    name: "odd",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", properties: { a: { type: "nonsense" } } },
  };
  await using server = await startServer({ list: () => ({ tools: [tool] }) });
  const { session } = await connectTo(server);
  assertEquals((await session.listTools()).tools.map(({ name }) => name), ["odd"]);
  await session.close();
});

Deno.test("a result without an end fails alone, and the session goes on", async () => {
  const endless = () => {
    const piece = new TextEncoder().encode("x".repeat(100_000));
    return new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
  };
  await using server = await startServer({
    call: () => new Response(endless(), { headers: { "content-type": "application/json" } }),
  });
  const { session } = await connectTo(server);
  await assertRejects(() => session.callTool("big", { args: {} }), AnswerTooLarge);
  await session.listTools();
  await session.close();
});

Deno.test("a server that sends notifications without end is left, and its calls fail", async () => {
  const endless = () => {
    const message = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info" } };
    const piece = new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`.repeat(100));
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  for (const flood of [{ listen: endless }, { call: endless }]) {
    await using server = await startServer(flood);
    const { session, closed } = await connectTo(server);
    const call = session.callTool("any", { args: {} }).catch(String);
    assertEquals(await closed, "it sent over 1000 messages in 10 s by itself");
    await call;
    await server.aborted();
  }
});

Deno.test("a program that writes without end is left: one line, or to its stderr", async () => {
  const script = new URL("../../fakes/endless_server.ts", import.meta.url).pathname;
  for (const way of ["line", "stderr"]) {
    const args = ["run", "--quiet", script, way];
    const { session, closed } = await connect({ command: Deno.execPath(), args });
    const call = session.callTool("flood", { args: {} });
    if (way === "stderr") assertEquals(await call, "still here"); // nobody reads it
    else {
      await assertRejects(() => call);
      assert(await closed);
    }
    await session.close();
  }
});
