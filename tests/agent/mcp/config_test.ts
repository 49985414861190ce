import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { parseMcpConfig, readMcpConfig } from "../../../agent/mcp/config.ts";
import { ConfigError } from "../../../shared/config.ts";

Deno.test("the file has the format of desktop clients, and errors name what is wrong", () => {
  const [stdio, http] = parseMcpConfig(JSON.stringify({
    mcpServers: {
      files: { command: "npx", args: ["-y", "x"], env: { A: "1" } },
      web: { type: "http", url: "https://mcp.example/mcp", headers: { authorization: "k" } },
      off: { command: "no", disabled: true },
    },
  }));
  assertEquals([stdio?.name, stdio?.transport, http?.transport], ["files", "stdio", "http"]);
  const cases: [string, string][] = [
    ["{", "not JSON"],
    ["{}", "mcpServers"],
    ['{"mcpServers":{"a":{}}}', "needs a command or an http(s) url"],
    ['{"mcpServers":{"a":{"url":"file:///x"}}}', "must be an http or https URL"],
  ];
  for (const [text, reason] of cases) {
    const error = assertThrows(() => parseMcpConfig(text), ConfigError);
    assertStringIncludes(error.message, reason);
    assertStringIncludes(error.message, "AGENT_MCP_CONFIG");
  }
  const missing = assertThrows(() => readMcpConfig("/nowhere/mcp.json"), ConfigError);
  assertStringIncludes(missing.message, "/nowhere/mcp.json does not exist");
});
