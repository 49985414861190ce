import { assertEquals, assertRejects } from "@std/assert";
import { createMcpConnect, StartFailure } from "../../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../../agent/mcp/config.ts";
import { type Answer, json, raw, startProviderDouble } from "../../fakes/provider_double.ts";

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
};

for (const [what, [answer, reason]] of Object.entries(ANSWERS)) {
  Deno.test(`a server over HTTP that answers ${what} is down with the reason`, async () => {
    await using double = await startProviderDouble(answer);
    const entry = { url: new URL("/mcp", double.baseUrl).href };
    const [server] = parseMcpConfig(JSON.stringify({ mcpServers: { it: entry } }));
    const events = { onClose() {}, onError() {}, onToolsChanged() {} };
    const { message } = await assertRejects(
      () => createMcpConnect()(server!, events),
      StartFailure,
    );
    assertEquals(message, reason);
  });
}
