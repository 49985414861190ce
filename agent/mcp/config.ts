import { z } from "zod";
import { ConfigError } from "../../shared/config.ts";

const Stdio = z.looseObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
});

const Http = z.looseObject({
  url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
  headers: z.record(z.string(), z.string()).default({}),
});

const Entry = z.union([Stdio, Http], { error: "needs a command or an http(s) url" });
const File = z.looseObject({ mcpServers: z.record(z.string(), Entry) });

/** One server of the file: a program to start, or an address to connect to. */
export type McpServer =
  | { name: string; transport: "stdio" } & z.infer<typeof Stdio>
  | { name: string; transport: "http" } & z.infer<typeof Http>;

/** Reads a file in the `mcpServers` form of desktop clients. Throws `ConfigError`. */
export function readMcpConfig(path: string): McpServer[] {
  return parseMcpConfig(readFile(path));
}

/** `disabled: true` leaves a server out, as desktop clients do. */
export function parseMcpConfig(text: string): McpServer[] {
  const result = File.safeParse(parseJson(text));
  if (!result.success) throw refuse(z.prettifyError(result.error));
  return Object.entries(result.data.mcpServers)
    .filter(([, entry]) => entry.disabled !== true)
    .map(([name, entry]): McpServer =>
      "command" in entry
        ? { ...entry as z.infer<typeof Stdio>, name, transport: "stdio" }
        : { ...entry as z.infer<typeof Http>, name, transport: "http" }
    );
}

function readFile(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw refuse(`${path} does not exist`);
    if (error instanceof Deno.errors.NotCapable) {
      throw refuse(
        `no permission to read ${path}; name it mcp.json, or start with --allow-read=${path}`,
      );
    }
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse("the file is not JSON");
  }
}

function refuse(reason: string): ConfigError {
  return new ConfigError(`cannot start: AGENT_MCP_CONFIG is invalid: ${reason}`);
}
