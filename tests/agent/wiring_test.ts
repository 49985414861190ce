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

Deno.test("MCP servers that are not there are named, without their errors", () => {
  assertEquals(check("ready", "down", "connecting"), "server-1 is down, server-2 is connecting");
});

Deno.test("there is nothing to say of MCP servers that are ready, or of none", () => {
  assertEquals([check("ready"), check()], [undefined, undefined]);
});
