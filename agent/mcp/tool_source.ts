import { z } from "zod";
import type { Logger } from "../../shared/log.ts";
import { createToolbox, type Tool, type ToolReport, type ToolSource } from "../tools/tool.ts";
import type { McpConnect } from "./client.ts";
import type { McpServer } from "./config.ts";
import { type McpConnection, openMcpConnection } from "./connection.ts";
import { withPatterns } from "./patterns.ts";
import type { McpToolDefinition } from "./tool_list.ts";
import { createToolNames } from "./tool_names.ts";

export interface McpToolSourceOptions {
  builtIn: Tool[];
  servers: McpServer[];
  connect: McpConnect;
  log: Logger;
  /** Removes the service's secrets from the errors of a server. */
  redact?: (text: string) => string;
  firstRetryMs?: number;
  listPauseMs?: number;
}

/** The built-in tools, and those of every MCP server that is ready. */
export function createMcpToolSource(
  { builtIn, servers, ...options }: McpToolSourceOptions,
): ToolSource & AsyncDisposable {
  const connections = servers.map((server) =>
    openMcpConnection(server, { ...options, onChange: rebuild })
  );
  const nameOf = createToolNames(builtIn.map(({ name }) => name));
  let listed = listTools();
  let toolbox = createToolbox(listed.map(({ tool }) => tool));

  /** Called only on a change: converting the schemas takes time. */
  function rebuild(): void {
    listed = listTools();
    toolbox = createToolbox(listed.map(({ tool }) => tool));
  }

  function listTools(): { tool: Tool; source: string }[] {
    const own = builtIn.map((tool) => ({ tool, source: "built-in" }));
    const offered = connections.flatMap((connection) =>
      connection.tools.map((definition) => ({ connection, definition }))
    );
    return [
      ...own,
      ...offered.map(({ connection, definition }) => ({
        tool: toTool(definition, {
          connection,
          name: nameOf(connection.name, definition.name),
        }),
        source: connection.name,
      })),
    ];
  }

  return {
    current: () => toolbox,
    describe: (): ToolReport => ({
      tools: listed.map(({ tool: { name, description }, source }) => ({
        name,
        description,
        source,
      })),
      servers: connections.map(({ state }) => state),
    }),
    async [Symbol.asyncDispose]() {
      for (const tool of builtIn) tool[Symbol.dispose]?.();
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}

function toTool(
  { name: tool, description, inputSchema }: McpToolDefinition,
  { connection, name }: { connection: McpConnection; name: string },
): Tool {
  const { $schema: _, ...parameters } = inputSchema;
  let schema: z.ZodType | undefined;
  return {
    name,
    description,
    parameters,
    // Converted at the first call: a thousand tools take a while, and most are never called.
    get schema() {
      return schema ??= toSchema(inputSchema);
    },
    run: (args, { signal }) =>
      connection.call(tool, {
        args: args as Record<string, unknown>,
        ...(signal && { signal }),
      }),
  };
}

/** Longer schemas are not checked here, only by their server. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;

/**
 * The schema that arguments are checked against before the server is asked. The server checks them
 * too, so an unreadable schema accepts everything here. So does one with references, which may
 * multiply exponentially. Patterns are checked apart: zod's are neither Unicode nor of linear time.
 */
function toSchema(inputSchema: Record<string, unknown>): z.ZodType {
  const text = JSON.stringify(inputSchema);
  const isRisky = /"(\$ref|patternProperties)":/.test(text);
  if (isRisky || text.length > MAX_SCHEMA_CHARACTERS) return z.looseObject({});
  const isPattern = (key: string, value: unknown) => key === "pattern" && typeof value === "string";
  try {
    const schema = z.fromJSONSchema(
      JSON.parse(text, (key, value) => isPattern(key, value) ? undefined : value),
    );
    return withPatterns(schema, inputSchema);
  } catch {
    return z.looseObject({});
  }
}
