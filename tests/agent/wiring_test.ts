import { assertEquals } from "@std/assert";
import { checkMcp } from "../../agent/wiring.ts";
import { createFixedTools, type ToolServerState } from "../../agent/tools/tool.ts";

function check(...states: ToolServerState["state"][]) {
  const servers = states.map((state, index): ToolServerState => ({
    name: `server-${index}`,
    transport: "http",
    state,
    tools: 0,
    ...(state === "down" && { error: "it refused the connection" }),
  }));
  return checkMcp({ ...createFixedTools([]), describe: () => ({ tools: [], servers }) })();
}

Deno.test("readiness names the MCP servers that are not ready, without their errors", () => {
  assertEquals(check("ready", "down", "connecting"), "server-1 is down, server-2 is connecting");
});

Deno.test("readiness says nothing if all MCP servers are ready, or if there are none", () => {
  assertEquals([check("ready"), check()], [undefined, undefined]);
});
