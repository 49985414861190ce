import { z } from "zod";
import type { McpConnect, McpEvents, McpSession } from "../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../agent/mcp/config.ts";
import { createMcpToolSource, type McpToolSourceOptions } from "../../agent/mcp/tool_source.ts";
import type { Tool, ToolSource } from "../../agent/core/tools/tool.ts";
import { silentLogger } from "../../shared/service/log.ts";
import { until } from "./until.ts";

const { servers: SERVERS } = parseMcpConfig(JSON.stringify({
  mcpServers: { one: { url: "http://one.test/mcp" }, two: { command: "two" } },
}));

const echo: Tool = {
  name: "echo",
  description: "Says it again.",
  schema: z.object({}),
  run: () => "built in",
};

/** A session with a server that has these tools, each with a number `n` as its argument. */
export function session(tools: string[], more: Partial<McpSession> = {}): McpSession {
  return {
    listTools: () =>
      Promise.resolve({
        tools: tools.map((name) => ({
          name,
          description: name,
          inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        })),
      }),
    callTool: (name) => Promise.resolve(`${name} said so`),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
    ...more,
  };
}

/** The built-in tool `echo` and the tools of the servers `one` and `two`. */
export function openSource(connect: McpConnect, more: Partial<McpToolSourceOptions> = {}) {
  return createMcpToolSource({
    builtIn: [echo],
    servers: SERVERS,
    connect,
    log: silentLogger,
    firstRetryMs: 1,
    listPauseMs: 1,
    ...more,
  });
}

/** The start of a server that never answers: only the end of the service ends it. */
export function neverStarts({ signal }: McpEvents): Promise<never> {
  return new Promise((_, reject) =>
    signal!.addEventListener("abort", () => reject(signal!.reason))
  );
}

/** Waits until the source fulfils a condition. */
export async function sourceBecomes(
  source: ToolSource,
  holds: (source: ToolSource) => boolean,
): Promise<void> {
  await until(() => holds(source), { what: String(holds) });
}

export const names = (source: ToolSource) => source.current().names;
export const stateOf = (source: ToolSource, server: string) =>
  source.describe().servers.find(({ name }) => name === server)?.state;
