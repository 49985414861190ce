import {
  createMcpHandler,
  McpServer,
  type McpServerFactory,
} from "npm:@modelcontextprotocol/server@2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@2.4.0/stdio";
import { z } from "zod";

/**
 * A server of the SDK's second version, for both versions of the protocol. Its tool `era` answers
 * which one the call used, and the trace that the call is part of.
 */
const createServer: McpServerFactory = ({ era }) => {
  const server = new McpServer({ name: "modern", version: "1" });
  server.registerTool(
    "era",
    { description: "Tells the era.", inputSchema: z.object({ word: z.string() }) },
    ({ word }, { mcpReq }) => ({
      content: [{ type: "text", text: `${word} ${era} ${mcpReq._meta?.traceparent}` }],
    }),
  );
  return server;
};

/** The server over HTTP. `changeTools` tells its clients that the list has changed. */
export function createModernServer() {
  const { fetch, notify } = createMcpHandler(createServer);
  return { fetch: (request: Request) => fetch(request), changeTools: () => notify.toolsChanged() };
}

if (import.meta.main) serveStdio(createServer);
