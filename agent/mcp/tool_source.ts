import { z } from "zod";
import type { Logger } from "../../shared/log.ts";
import { functionName } from "../tools/names.ts";
import { createToolbox, type Tool, type ToolReport, type ToolSource } from "../tools/tool.ts";
import type { McpConnect } from "./client.ts";
import type { McpServer } from "./config.ts";
import { type McpConnection, openMcpConnection } from "./connection.ts";
import type { McpToolDefinition } from "./tool_list.ts";

export interface McpToolSourceOptions {
  builtIn: Tool[];
  servers: McpServer[];
  connect: McpConnect;
  log: Logger;
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
    const names = nameTools(builtIn.map(({ name }) => name), offered);
    return [
      ...own,
      ...offered.map(({ connection, definition }, index) => ({
        tool: toTool(definition, { connection, name: names[index]! }),
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

interface Offer {
  connection: { name: string };
  definition: { name: string };
}

/** Unique, valid function names. If two are equal, a server's tool gets the server's name in front. */
export function nameTools(builtIn: string[], offers: Offer[]): string[] {
  const plain = offers.map(({ definition }) => functionName(definition.name));
  const taken = new Set(builtIn);
  const count = new Map<string, number>();
  for (const name of [...builtIn, ...plain]) count.set(name, (count.get(name) ?? 0) + 1);
  return offers.map(({ connection }, index) => {
    const name = plain[index]!;
    const wanted = count.get(name)! > 1 ? functionName(`${connection.name}_${name}`) : name;
    let free = wanted;
    for (let number = 2; taken.has(free); number++) free = `${wanted.slice(0, 60)}_${number}`;
    taken.add(free);
    return free;
  });
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
 * multiply exponentially; patterns are ignored, because they may take exponential time.
 */
function toSchema(inputSchema: Record<string, unknown>): z.ZodType {
  const text = JSON.stringify(inputSchema);
  const isRisky = /"(\$ref|patternProperties)":/.test(text);
  if (isRisky || text.length > MAX_SCHEMA_CHARACTERS) return z.looseObject({});
  const isPattern = (key: string, value: unknown) => key === "pattern" && typeof value === "string";
  try {
    return z.fromJSONSchema(
      JSON.parse(text, (key, value) => isPattern(key, value) ? undefined : value),
    );
  } catch {
    return z.looseObject({});
  }
}
