import { z } from "zod";
import type { Logger } from "../../shared/service/log.ts";
import { MAX_OFFERED_TOOLS } from "../../shared/providers/provider.ts";
import {
  createToolbox,
  functionName,
  type Tool,
  type ToolReport,
  type ToolSource,
} from "../core/tools/tool.ts";
import type { McpConnect } from "./client.ts";
import type { McpServer } from "./config.ts";
import { type McpConnection, openMcpConnection } from "./connection.ts";
import { type McpToolDefinition, toParameters } from "./tool_list.ts";

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
  /** The last list of each server: a tool keeps its name while the server of another is down. */
  const known = new Map<string, string[]>(servers.map(({ name }) => [name, []]));
  let listed = listTools();
  let toolbox = createToolbox(listed.map(({ tool }) => tool));

  /** Called only after a change, because converting the schemas takes time. */
  function rebuild(): void {
    const before = listed.length;
    listed = listTools();
    toolbox = createToolbox(listed.map(({ tool }) => tool));
    if (before > MAX_OFFERED_TOOLS || listed.length <= MAX_OFFERED_TOOLS) return;
    const message =
      "some models accept fewer tools than there are: they get the first of GET /tools";
    options.log.warn(message, { tools: listed.length, first: MAX_OFFERED_TOOLS });
  }

  function listTools(): { tool: Tool; source: string }[] {
    const own = builtIn.map((tool) => ({ tool, source: "built-in" }));
    for (const { name, tools } of connections) {
      if (tools.length > 0) known.set(name, tools.map((tool) => tool.name));
    }
    const nameOf = nameTools(builtIn.map(({ name }) => name), known);
    const offered = connections.flatMap((connection) =>
      connection.tools.map((definition) => {
        const name = nameOf(connection.name, definition.name);
        return { tool: toTool(definition, { connection, name }), source: connection.name };
      })
    );
    return [...own, ...offered];
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

/** The server checks the arguments by its own rules, and the model gets its error. */
const ANY_ARGUMENTS = z.looseObject({});

function toTool(
  { name: tool, description, inputSchema }: McpToolDefinition,
  { connection, name }: { connection: McpConnection; name: string },
): Tool {
  return {
    name,
    description,
    parameters: toParameters(inputSchema),
    schema: ANY_ARGUMENTS,
    run: (args, { signal }) =>
      connection.call(tool, { args: args as Record<string, unknown>, signal }),
  };
}

/**
 * Unique, valid function names for the tools of servers, in the order of the lists, which have the
 * servers' own names. If a built-in tool or one of an earlier list has the name, it is prefixed with
 * the server's name.
 */
export function nameTools(
  builtIn: readonly string[],
  lists: Iterable<[server: string, tools: readonly string[]]>,
): (server: string, tool: string) => string {
  const taken = new Set(builtIn);
  const given = new Map<string, string>();
  for (const [server, tools] of lists) {
    for (const tool of tools) {
      const name = findFree(taken, { server, plain: functionName(tool) });
      taken.add(name);
      given.set(JSON.stringify([server, tool]), name);
    }
  }
  return (server, tool) => given.get(JSON.stringify([server, tool]))!;
}

function findFree(
  taken: ReadonlySet<string>,
  { server, plain }: { server: string; plain: string },
): string {
  if (!taken.has(plain)) return plain;
  const wanted = functionName(`${server}_${plain}`);
  let free = wanted;
  for (let number = 2; taken.has(free); number++) free = `${wanted.slice(0, 58)}_${number}`;
  return free;
}
