import { assertEquals, assertRejects } from "@std/assert";
import { createMcpConnect, SlowList, StartFailure } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { connectMcp } from "../../fakes/connect_mcp.ts";
import { type Answer, hang, json, raw, startProviderDouble } from "../../fakes/provider_double.ts";

const NOT_MCP = "its answer is not one of an MCP server; check its url";
const html = { headers: { "content-type": "text/html" } };
const reply = (fields: Record<string, unknown>): Answer => (request) =>
  Response.json({ jsonrpc: "2.0", id: request.body.id, ...fields });
const serverInfo = { name: "double", version: "1" };

/** What an address may answer that no session begins with. */
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
    "it refused to begin a session",
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
