import { assertEquals, assertRejects } from "@std/assert";
import { createMcpConnect } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { createMcpToolSource } from "../../../agent/mcp/tool_source.ts";
import type { ToolSource } from "../../../agent/tools/tool.ts";
import { ToolError } from "../../../agent/tools/tool.ts";
import { silentLogger } from "../../../shared/log.ts";
import { startProviderDouble } from "../../fakes/provider_double.ts";
import { until } from "../../fakes/until.ts";

/** A server over HTTP that forgets its sessions when told to, as one that is restarted. */
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
