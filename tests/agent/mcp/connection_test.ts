import { ProtocolError } from "@modelcontextprotocol/client";
import { assertEquals, assertRejects } from "@std/assert";
import {
  createMcpConnect,
  type McpEvents,
  SlowList,
  StartFailure,
} from "../../../agent/mcp/client.ts";
import { explainPermission, parseMcpConfig } from "../../../agent/mcp/config.ts";
import { createRetryPauses } from "../../../agent/mcp/pauses.ts";
import type { McpToolList } from "../../../agent/mcp/tool_list.ts";
import { createMcpToolSource } from "../../../agent/mcp/tool_source.ts";
import { ToolError, type ToolSource } from "../../../agent/core/tools/tool.ts";
import { silentLogger } from "../../../shared/service/log.ts";
import { connectMcp, unknownMethod } from "../../fakes/connect_mcp.ts";
import {
  names,
  neverStarts,
  openSource,
  session,
  sourceBecomes,
  stateOf,
} from "../../fakes/mcp_sessions.ts";
import { type Answer, hang, json, raw, startProviderDouble } from "../../fakes/provider_double.ts";
import { until } from "../../fakes/until.ts";

Deno.test("if a server cannot list its tools, the reason contains no text of the server", async () => {
  const listTools = () => Promise.reject(new Error("Error POSTing to endpoint: s3cret"));
  await using source = openSource(() => Promise.resolve(session([], { listTools })));
  await sourceBecomes(source, (source) => stateOf(source, "one") === "down");
  assertEquals(source.describe().servers[0]?.error, "it cannot list its tools");
});

Deno.test("a list that a server refuses is reported without the service's own keys", async () => {
  const listTools = () => Promise.reject(new ProtocolError(-32603, "no tools for planted-s"));
  const redact = (text: string) => text.replaceAll("planted-s", "[secret]");
  await using source = openSource(() => Promise.resolve(session([], { listTools })), { redact });
  await sourceBecomes(source, (source) => stateOf(source, "one") === "down");
  assertEquals(source.describe().servers[0]?.error, "no tools for [secret]");
});

Deno.test("a list that changes is read again", async () => {
  const events: McpEvents[] = [];
  const tools = ["first"];
  await using source = openSource(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    events.push(given);
    return Promise.resolve(session(tools));
  });
  await sourceBecomes(source, (source) => names(source).includes("first"));
  tools.push("second");
  events[0]?.onToolsChanged();
  await sourceBecomes(source, (source) => names(source).includes("second"));
  assertEquals(names(source), ["echo", "first", "second"]);
});

Deno.test("a server that announces changes endlessly is asked for one list at a time", async () => {
  let listed = 0;
  let listing = 0;
  let most = 0;
  let events: McpEvents | undefined;
  const tools = ["first"];
  await using source = openSource(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    events = given;
    const base = session(tools);
    return Promise.resolve({
      ...base,
      async listTools() {
        most = Math.max(most, ++listing);
        await new Promise((resolve) => setTimeout(resolve, 20));
        listing--;
        listed++;
        return await base.listTools();
      },
    });
  });
  await sourceBecomes(source, (source) => names(source).includes("first"));
  for (let sent = 0; sent < 1_000; sent++) events?.onToolsChanged();
  await sourceBecomes(source, () => listing === 1);
  events?.onToolsChanged(); // during the read: the list may be outdated already
  tools.push("second");
  await sourceBecomes(source, (source) => names(source).includes("second"));
  await sourceBecomes(source, () => listed === 3);
  assertEquals(most, 1);
});

Deno.test("errors that come together cause one ping", async () => {
  let pings = 0;
  let events: McpEvents | undefined;
  const answered = Promise.withResolvers<void>();
  await using source = openSource(({ name }, given) => {
    if (name === "one") events = given;
    const ping = () => {
      pings++;
      return answered.promise;
    };
    return Promise.resolve(session([name], { ping }));
  });
  await sourceBecomes(source, (source) => names(source).length === 3);
  for (let doubt = 0; doubt < 100; doubt++) events?.onError();
  answered.resolve();
  await sourceBecomes(source, () => pings > 0);
  assertEquals(pings, 1);
});

Deno.test("a server with short sessions is connected again with growing pauses", async () => {
  const pauses: unknown[] = [];
  const log = { ...silentLogger, warn: (_: string, fields?: object) => void pauses.push(fields) };
  let given: McpEvents | undefined;
  await using source = openSource(({ name }, events) => {
    if (name === "two") return neverStarts(events);
    given = events;
    return Promise.resolve(session(["first"]));
  }, { log });
  for (const pause of [1, 2, 4]) {
    await sourceBecomes(source, (source) => stateOf(source, "one") === "ready");
    given?.onClose("it sent too much");
    assertEquals(pauses.at(-1), { server: "one", reason: "it sent too much", retry_ms: pause });
  }
});

/** The log lines about a list of one tool that is shown only in part; the list is read twice. */
async function warningsAbout(more: Pick<McpToolList, "leftOut" | "unusable">): Promise<unknown[]> {
  const lines: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => void lines.push(line) };
  const { tools } = await session(["first"]).listTools();
  let readings = 0;
  const listTools = () => {
    readings++;
    return Promise.resolve({ tools, ...more });
  };
  let events: McpEvents | undefined;
  await using source = openSource(({ name }, given) => {
    if (name === "two") return neverStarts(given);
    events = given;
    return Promise.resolve(session([], { listTools }));
  }, { log });
  await sourceBecomes(source, (source) => names(source).includes("first"));
  events?.onToolsChanged();
  await sourceBecomes(source, () => readings === 2);
  await new Promise((resolve) => setTimeout(resolve));
  return lines;
}

Deno.test("a list that is too long is logged", async () => {
  assertEquals(await warningsAbout({ leftOut: "over 1000 tools" }), [[
    "the tool list of an MCP server is too long: the rest is left out",
    { server: "one", reason: "over 1000 tools", tools: 1 },
  ]]);
});

Deno.test("tools that are left out are named in the log", async () => {
  assertEquals(await warningsAbout({ unusable: ["odd"] }), [[
    "tools of an MCP server are left out: they cannot be used",
    { server: "one", left_out: ["odd"] },
  ]]);
});

/** A server over HTTP that can forget its sessions, as after a restart. */
async function startForgetful() {
  const sessions = new Set<string>();
  const state = { calls: 0, takesSessions: true };
  const double = await startProviderDouble(({ method, headers, body }) => {
    if (method !== "POST") return new Response(null, { status: 405 });
    const { id, method: asked, params } = body;
    const answer = (result: unknown, more: HeadersInit = {}) =>
      Response.json({ jsonrpc: "2.0", id, result }, { headers: more });
    if (asked === "initialize") {
      if (!state.takesSessions) return new Response("starting", { status: 503 });
      const session = crypto.randomUUID();
      sessions.add(session);
      return answer({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "forgetful", version: "1" },
      }, { "mcp-session-id": session });
    }
    if (!sessions.has(headers.get("mcp-session-id") ?? "")) {
      return new Response("Session not found", { status: 404 });
    }
    if (id === undefined) return new Response(null, { status: 202 });
    if (asked !== "tools/call") {
      return answer({ tools: [{ name: "count", inputSchema: { type: "object" } }] });
    }
    return answer({ content: [{ type: "text", text: `call ${++state.calls}` }] });
  });
  return Object.assign(double, { state, forget: () => sessions.clear() });
}

function open({ origin }: { origin: string }) {
  const { servers } = parseMcpConfig(
    JSON.stringify({ mcpServers: { it: { url: `${origin}/mcp` } } }),
  );
  const connect = createMcpConnect();
  return createMcpToolSource({ builtIn: [], servers, connect, log: silentLogger });
}

async function ready(source: ToolSource) {
  const tool = await until(() => source.current().find("count"));
  return async () => await tool.run({}, {});
}

Deno.test("calls whose session has expired are made in a new one, and no tool is missing", async () => {
  await using server = await startForgetful();
  await using source = open(server);
  const call = await ready(source);
  assertEquals(await call(), "call 1");
  server.forget();
  const both = await Promise.all([call(), call()]);
  assertEquals(both.toSorted(), ["call 2", "call 3"]);
  assertEquals(source.current().names, ["count"]);
  const opened = server.requests.filter(({ body }) => body?.method === "initialize");
  assertEquals(opened.length, 2, "both calls share the new session");
});

Deno.test("a server that has forgotten its session and takes no other is down", async () => {
  await using server = await startForgetful();
  await using source = open(server);
  const call = await ready(source);
  server.forget();
  server.state.takesSessions = false;
  await assertRejects(call, ToolError, "went down during the call");
  assertEquals(source.describe().servers[0]?.error, "it answered with status 503");
});

Deno.test("the pauses before a server is connected again double up to a minute", () => {
  const pauses = createRetryPauses({ now: () => 0 });
  const seconds = Array.from({ length: 8 }, () => pauses.next() / 1000);
  assertEquals(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
});

Deno.test("a session of a minute begins the pauses anew; shorter ones do not", () => {
  let now = 0;
  const pauses = createRetryPauses({ firstMs: 10, now: () => now });
  function failAfter(ms: number): number {
    pauses.begin();
    now += ms;
    return pauses.next();
  }
  assertEquals([failAfter(0), failAfter(59_999), failAfter(59_999)], [10, 20, 40]);
  assertEquals(failAfter(60_000), 10);
  now += 600_000; // without a session
  assertEquals([pauses.next(), pauses.next()], [20, 40]);
});

const NOT_MCP = "its answer is not from an MCP server; check its url";
const html = { headers: { "content-type": "text/html" } };
const reply = (fields: Record<string, unknown>): Answer => (request) =>
  Response.json({ jsonrpc: "2.0", id: request.body.id, ...fields });
const serverInfo = { name: "double", version: "1" };

/** Answers of an address with which no session can begin. */
const ANSWERS: Record<string, [answer: Answer, reason: string]> = {
  "a web page": [raw("<h1>Welcome</h1>", html), NOT_MCP],
  "JSON that is cut off": [raw("{", { headers: { "content-type": "application/json" } }), NOT_MCP],
  "JSON of another API": [json({ status: "ok" }), NOT_MCP],
  "an unknown version": [
    reply({ result: { protocolVersion: "2099-01-01", capabilities: {}, serverInfo } }),
    "it speaks a version of MCP that is not supported",
  ],
  "an error": [
    reply({ error: { code: -32602, message: "secret words" } }),
    "it refused to start a session",
  ],
  "401": [raw("", { status: 401 }), "it answered with status 401"],
  "401 with the words of OAuth": [
    raw("", {
      status: 401,
      headers: { "www-authenticate": 'Bearer resource_metadata="https://a.example/x"' },
    }),
    "it asks for an OAuth sign-in, which the agent does not support; write a token of its own " +
    'into "headers": { "authorization": "Bearer …" }',
  ],
};

for (const [what, [answer, reason]] of Object.entries(ANSWERS)) {
  Deno.test(`a server over HTTP that answers ${what} is down with the reason`, async () => {
    await using double = await startProviderDouble(answer);
    const entry = { url: new URL("/mcp", double.baseUrl).href };
    const { servers: [server] } = parseMcpConfig(JSON.stringify({ mcpServers: { it: entry } }));
    const events = { onClose() {}, onError() {}, onToolsChanged() {} };
    const { message } = await assertRejects(
      () => createMcpConnect()(server!, events),
      StartFailure,
    );
    assertEquals(message, reason);
  });
}

Deno.test("the timeout of an entry is the limit of its list of tools, too", async () => {
  await using double = await startProviderDouble((request) => {
    if (request.body?.method === "server/discover") return unknownMethod(request);
    if (request.body?.method === "initialize") {
      const { protocolVersion } = request.body.params as { protocolVersion: string };
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo };
      return reply({ result })(request);
    }
    if (request.body?.method !== "tools/list") return new Response(null, { status: 202 });
    return hang()(request);
  });
  const { session } = await connectMcp({
    url: new URL("/mcp", double.baseUrl).href,
    timeout: 1_000,
  });
  const { message } = await assertRejects(() => session.listTools(), SlowList);
  assertEquals(message, 'it did not list its tools within 1 s ("timeout" of its entry)');
  await session.close();
});

Deno.test("a missing permission is given at the start, or to a binary when it is built", () => {
  assertEquals(
    [false, true].map((isBinary) => explainPermission("--allow-run=npx", isBinary)),
    [
      "start with: DENO_FLAGS=--allow-run=npx deno task agent",
      "build with: deno task compile --allow-run=npx",
    ],
  );
});
