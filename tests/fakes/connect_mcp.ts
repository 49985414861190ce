import { readProgramEnvironment } from "../../agent/config.ts";
import { createMcpConnect, type McpConnectOptions } from "../../agent/mcp/client.ts";
import { parseMcpConfig } from "../../agent/mcp/config.ts";
import type { ReceivedRequest } from "./provider_double.ts";

/** Opens a session with the server of one entry; `closed` settles with the reason of its end. */
export async function connectMcp(entry: Record<string, unknown>, options: McpConnectOptions = {}) {
  const { servers: [server] } = parseMcpConfig(JSON.stringify({ mcpServers: { it: entry } }));
  const events: string[] = [];
  const closed = Promise.withResolvers<string>();
  const session = await createMcpConnect({ environment: readProgramEnvironment(), ...options })(
    server!,
    {
      onClose: closed.resolve,
      onError: () => events.push("error"),
      onToolsChanged: () => events.push("changed"),
    },
  );
  return { session, events, closed: closed.promise };
}

/** The answer of a server before 2026-07-28 to `server/discover`. */
export const unknownMethod = ({ body: { id } }: ReceivedRequest): Response =>
  Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
