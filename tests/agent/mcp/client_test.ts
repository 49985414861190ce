import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { StartFailure } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { readResult } from "../../../agent/mcp/result.ts";
import { ToolError } from "../../../agent/core/tools/tool.ts";
import { AnswerTooLarge } from "../../../shared/http/outgoing_fetch.ts";
import { connectMcp, unknownMethod } from "../../fakes/connect_mcp.ts";
import { names, openSource, session, sourceBecomes } from "../../fakes/mcp_sessions.ts";
import { type ReceivedRequest, startProviderDouble } from "../../fakes/provider_double.ts";

type DeleteAnswer = (request: ReceivedRequest) => Response | Promise<Response>;

interface ServerOptions {
  /** Redirects `/mcp` to `/mcp/`, as web frameworks do. */
  redirects?: boolean;
  onDelete?: DeleteAnswer;
  /** The result of `tools/list`. */
  list?: (cursor: string | undefined) => unknown;
  /** The answer to a call of a tool. */
  call?: (request: ReceivedRequest) => Response;
  /** The answer to a client that opens the event stream. */
  listen?: () => Response;
}

/** A server over HTTP with one session; it has no tools unless `list` says so. */
function startServer(options: ServerOptions = {}) {
  const {
    onDelete = () => new Response(null, { status: 204 }),
    list = () => ({ tools: [] }),
    listen = () => new Response(null, { status: 405 }),
  } = options;
  return startProviderDouble((request) => {
    if (options.redirects && request.path === "/mcp") {
      return new Response(null, { status: 307, headers: { location: "/mcp/" } });
    }
    if (request.method === "DELETE") return onDelete(request);
    if (request.method === "GET") return listen();
    const { id, method, params } = request.body;
    if (method === "server/discover") return unknownMethod(request);
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

const connectTo = ({ origin }: { origin: string }) =>
  connectMcp({ url: `${origin}/mcp`, headers: { authorization: "Bearer k" } });

/** Opens and closes a session; returns the events in between. */
async function connectAndClose(server: { origin: string }): Promise<string[]> {
  const { session, events, closed } = await connectTo(server);
  assertEquals(await session.listTools(), { tools: [] });
  await session.close();
  void closed.then(() => events.push("closed"));
  await Promise.resolve();
  return events;
}

Deno.test("a session over HTTP is ended with a DELETE of its id, without an event", async () => {
  await using server = await startServer();
  const events = await connectAndClose(server);
  const { method, path, headers } = server.requests.at(-1)!;
  assertEquals([method, path, headers.get("mcp-session-id")], ["DELETE", "/mcp", "s-1"]);
  assertEquals(headers.get("authorization"), "Bearer k");
  assertEquals(events, []);
});

const DELETE_FAILURES: Record<string, DeleteAnswer> = {
  "does not support DELETE": () => new Response(null, { status: 405 }),
  "answers it with an error": () => new Response("no", { status: 500 }),
  "cuts the connection": () => Promise.reject(new Error("cut")),
};

for (const [what, onDelete] of Object.entries(DELETE_FAILURES)) {
  Deno.test(`the session with a server that ${what} ends without an error`, async () => {
    await using server = await startServer({ onDelete });
    const events = await connectAndClose(server);
    assertEquals([server.requests.at(-1)?.method, events], ["DELETE", []]);
  });
}

Deno.test("a session ends even if the server does not answer the DELETE", async () => {
  await using server = await startServer({
    onDelete: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("left")))),
  });
  await connectAndClose(server); // the answer never comes: only the client's own limit ends this
  await server.aborted();
  assertEquals(server.requests.at(-1)?.method, "DELETE");
});

Deno.test("reading an endless list of tools stops, and the tools read so far are used", async () => {
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

Deno.test("an invalid output schema does not break the list", async () => {
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

Deno.test("one tool with an odd input schema does not break the list", async () => {
  const tools = [
    { name: "empty", inputSchema: {} },
    { name: "odd", inputSchema: { type: "string" } },
    { name: "good", inputSchema: { type: "object" } },
  ];
  await using server = await startServer({ list: () => ({ tools }) });
  const { session } = await connectTo(server);
  const listed = await session.listTools();
  assertEquals(listed.tools.map(({ name }) => name), ["empty", "good"]);
  assertEquals(listed.unusable, ["odd"]);
  await session.close();
});

Deno.test("a result with a part of an unknown type is read, and is not cancelled later", async () => {
  const content = [{ type: "widget" }, { type: "text", text: "a" }];
  await using server = await startServer({
    call: ({ body: { id } }) => Response.json({ jsonrpc: "2.0", id, result: { content } }),
  });
  const { session } = await connectTo(server);
  const run = new AbortController();
  const result = await session.callTool("any", { args: {}, signal: run.signal });
  assertEquals(result, "(widget: unknown type)\n\na");
  run.abort();
  await session.listTools(); // is sent after what the abort would send
  const sent = server.requests.map(({ body }) => body?.method);
  assertEquals(sent.filter((method) => method === "notifications/cancelled"), []);
  await session.close();
});

Deno.test("a result that has nothing but structured content is read", async () => {
  await using server = await startServer({
    call: ({ body: { id } }) =>
      Response.json({ jsonrpc: "2.0", id, result: { structuredContent: { sum: 3 } } }),
  });
  const { session } = await connectTo(server);
  assertEquals(await session.callTool("any", { args: {} }), '{"sum":3}');
  await session.close();
});

Deno.test("an endless result fails, and the session continues", async () => {
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

Deno.test("the session of a server with endless notifications is ended, and its calls fail", async () => {
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
    assertEquals(await closed, "it sent over 1000 notifications and requests in 10 s");
    await call;
    await server.aborted();
  }
});

Deno.test("an address that cannot be reached says why", async () => {
  const error = await assertRejects(
    () => connectMcp({ url: "http://nobody.invalid/mcp" }),
    StartFailure,
  );
  assertEquals(error.message, "its host name cannot be resolved (DNS)");
});

Deno.test("redirects are followed within the origin, with method and key, and not beyond it", async () => {
  await using server = await startServer();
  await using front = await startProviderDouble(({ path }) => {
    const location = path === "/mcp" ? "/mcp/" : `${server.origin}/mcp`;
    return new Response(null, { status: 307, headers: { location } });
  });
  await using same = await startServer({ redirects: true });
  const { session } = await connectTo(same);
  assertEquals(await session.listTools(), { tools: [] });
  await session.close();
  const posts = same.requests.filter(({ path, method }) => path === "/mcp/" && method === "POST");
  assert(posts.length > 1);
  assert(posts.every(({ headers }) => headers.get("authorization") === "Bearer k"));

  await assertRejects(() => connectTo(front), StartFailure);
  assertEquals(server.requests, []);
});

Deno.test("the model is told that a server went down during a call, and sees the tool's own error", async () => {
  let isGone = false;
  let failure = new Error("Error POSTing to endpoint (HTTP 500): the key is s3cret");
  await using source = openSource(({ name }) =>
    Promise.resolve(session([name], {
      callTool: () => Promise.reject(name === "one" ? new ToolError("no such city") : failure),
      ping: () => isGone ? Promise.reject(new Error("gone")) : Promise.resolve(),
    }))
  );
  await sourceBecomes(source, (source) => names(source).length === 3);
  const call = (tool: string) =>
    assertRejects(async () => await source.current().find(tool)?.run({ n: 1 }, {}), ToolError);
  assertStringIncludes((await call("one")).message, "no such city");
  assertEquals((await call("two")).message, "the tool two failed: no valid answer from its server");
  failure = new ProtocolError(-32602, "no such unit");
  assertEquals((await call("two")).message, "the tool two failed: no such unit");
  failure = new AnswerTooLarge("too large");
  assertEquals(
    (await call("two")).message,
    "the tool two failed: its result is over 8388608 bytes",
  );
  const kept = source.current().find("two")!;
  isGone = true;
  assertStringIncludes((await call("two")).message, "went down during the call");
  const late = await assertRejects(async () => await kept.run({ n: 1 }, {}), ToolError);
  assertStringIncludes(late.message, "is down");
});

Deno.test("an error in answer to a ping is an answer: the server keeps its tools", async () => {
  await using source = openSource(({ name }) =>
    Promise.resolve(session([name], {
      callTool: () => Promise.reject(new ProtocolError(-32602, "no such ticket")),
      ping: () => Promise.reject(new ProtocolError(-32601, "Method not found")),
    }))
  );
  await sourceBecomes(source, (source) => names(source).length === 3);
  const error = await assertRejects(
    async () => await source.current().find("one")?.run({ n: 1 }, {}),
    ToolError,
  );
  assertEquals(error.message, "the tool one failed: no such ticket");
  assertEquals(names(source), ["echo", "one", "two"]);
});

for (
  const [what, code] of [
    ["a closed connection", SdkErrorCode.ConnectionClosed],
    ["no answer in time", SdkErrorCode.RequestTimeout],
  ] as const
) {
  Deno.test(`${what} at a ping means that the server is down`, async () => {
    await using source = openSource(({ name }) =>
      Promise.resolve(session([name], {
        callTool: () => Promise.reject(new SdkError(code, "gone")),
        ping: () => Promise.reject(new SdkError(code, "gone")),
      }))
    );
    await sourceBecomes(source, (source) => names(source).length === 3);
    const error = await assertRejects(
      async () => await source.current().find("one")?.run({ n: 1 }, {}),
      ToolError,
    );
    assertStringIncludes(error.message, "went down during the call");
  });
}

/** How a server may report that a call failed, with the key that it was sent. */
const TELLING: Record<string, Error> = {
  "an error of the protocol": new ProtocolError(-32602, "the key planted-k may not read this"),
  "a result that is an error": new ToolError("the key planted-k may not read this"),
};

for (const [what, failure] of Object.entries(TELLING)) {
  Deno.test(`${what} is shown without the keys of its server`, async () => {
    const { servers } = parseMcpConfig(JSON.stringify({
      mcpServers: {
        one: { url: "http://one.test/mcp", headers: { authorization: "Bearer planted-k" } },
      },
    }));
    const callTool = () => Promise.reject(failure);
    await using source = openSource(({ name }) => Promise.resolve(session([name], { callTool })), {
      servers,
    });
    await sourceBecomes(source, (source) => names(source).length === 2);
    const error = await assertRejects(
      async () => await source.current().find("one")?.run({ n: 1 }, {}),
      ToolError,
    );
    assertStringIncludes(error.message, "the key [secret] may not read this");
  });
}

Deno.test("a result is returned as text, and other content is named", () => {
  assertEquals(
    readResult({
      content: [
        { type: "text", text: "a" },
        { type: "image", mimeType: "image/png", data: "xx" },
        { type: "resource", resource: { uri: "demo://1", text: "b" } },
        { type: "resource_link", name: "c", uri: "demo://2" },
      ],
    }),
    {
      text: "a\n\n(image: image/png)\n\nb\n\n(a link: c demo://2)",
      images: [{ type: "image_url", image_url: { url: "data:image/png;base64,xx" } }],
    },
  );
  assertEquals(readResult({ content: [], structuredContent: { x: 1 } }), {
    text: '{"x":1}',
    images: [],
  });
});

Deno.test("a resource that is an image is sent as one", () => {
  const resource = (mimeType: string) => ({
    type: "resource",
    resource: { uri: "demo://1", mimeType, blob: "xx" },
  });
  assertEquals(readResult({ content: [resource("image/png"), resource("audio/wav")] }), {
    text: "(a resource: demo://1)\n\n(a resource: demo://1)",
    images: [{ type: "image_url", image_url: { url: "data:image/png;base64,xx" } }],
  });
});

Deno.test("an image that models do not take is only named", () => {
  for (const mimeType of ["image/svg+xml", "image/tiff", "image/x-icon", "image/png-x"]) {
    const content = [
      { type: "image", mimeType, data: "xx" },
      { type: "resource", resource: { uri: "demo://1", mimeType, blob: "xx" } },
    ];
    const text = `(image: ${mimeType})\n\n(a resource: demo://1)`;
    assertEquals(readResult({ content }), { text, images: [] });
  }
  for (const mimeType of ["image/jpeg", "image/jpg", "IMAGE/PNG", "image/gif", "image/webp; q=1"]) {
    assertEquals(readResult({ content: { type: "image", mimeType, data: "xx" } }).images.length, 1);
  }
});

Deno.test("images beyond the limits of a result are only named", () => {
  const image = (data: string) => ({ type: "image", mimeType: "image/png", data });
  const many = readResult({ content: Array(10).fill(image("xx")) });
  assertEquals([many.images.length, many.text.match(/image\/png/g)?.length], [8, 10]);
  const large = readResult({ content: [image("x".repeat(4_000_001)), image("xx")] });
  assertEquals(large.images.length, 1);
  assertEquals(readResult({ content: [{ type: "image", mimeType: "text/html", data: "x" }] }), {
    text: "(image: text/html)",
    images: [],
  });
});

Deno.test("a part of another form than the protocol says costs nothing of the rest", () => {
  const content = [
    { type: "widget", html: "<b>" },
    { type: "image", data: "xx" },
    { type: "resource_link", uri: "demo://3" },
    { type: "resource", resource: "demo://4" },
    { type: "text", text: "a", annotations: { priority: 7 } },
    "b",
    null,
  ];
  assertEquals(readResult({ content }), {
    text: [
      "(widget: unknown type)",
      "(image: unknown type)",
      "(a link:  demo://3)",
      "(a resource: unnamed)",
      "a",
      "b",
      "(something: unknown type)",
    ].join("\n\n"),
    images: [],
  });
  assertEquals(readResult({ content: "a" }).text, "a");
});
