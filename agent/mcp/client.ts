import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { untilAbort } from "../../shared/abort.ts";
import { ToolError } from "../tools/tool.ts";
import type { McpServer } from "./config.ts";
import {
  createFloodGuard,
  createMessageFetch,
  MAX_MESSAGE_BYTES,
  type OnBreach,
} from "./message_limits.ts";
import { describeResult } from "./result.ts";
import { type McpToolList, readToolList } from "./tool_list.ts";

/** A session with a server that is there. */
export interface McpSession {
  listTools(): Promise<McpToolList>;
  /** Throws a `ToolError` where the tool says that it failed, and anything else where the server did. */
  callTool(
    name: string,
    options: { args: Record<string, unknown>; signal?: AbortSignal },
  ): Promise<string>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface McpEvents {
  /** The session is over; `reason` is in our words. */
  onClose: (reason: string) => void;
  /** Something went wrong that need not be the end. */
  onError: () => void;
  onToolsChanged: () => void;
}

/** Opens a session. Rejects with an error whose message may be shown. */
export type McpConnect = (server: McpServer, events: McpEvents) => Promise<McpSession>;

const CONNECT_TIMEOUT_MS = 10_000;
/** All pages of a list of tools together. */
const LIST_TIMEOUT_MS = 30_000;
const PING_TIMEOUT_MS = 5_000;
/** How long a server may take to hear that its session is over: a service that stops waits for it. */
const FAREWELL_TIMEOUT_MS = 1_000;
/** The protocol's own code. */
const REQUEST_TIMEOUT = -32001;
/** A tool's own time limit is the agent's, which aborts the call. */
const LONGEST_MS = 2 ** 31 - 1;

/** Through the official SDK, which is loaded only where a server is configured. */
export const connectMcp: McpConnect = async (server, events) => {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { ToolListChangedNotificationSchema, ListToolsResultSchema } = await import(
    "@modelcontextprotocol/sdk/types.js"
  );
  const client = new Client({ name: "assay-agent", version: "1" });
  const transport = await createTransport(server, onBreach);
  transport.onmessage = createFloodGuard(onBreach); // the client adds its own to it
  let isOver = false;

  /** A server that sends without end is left; its pending calls fail with the session. */
  function onBreach(reason: string): void {
    if (isOver) return;
    isOver = true;
    void end(client, transport);
    events.onClose(reason);
  }

  try {
    await client.connect(transport, { timeout: CONNECT_TIMEOUT_MS });
  } catch (cause) {
    await end(client, transport);
    throw new Error(explain(cause, server), { cause });
  }
  client.onclose = () => events.onClose("it ended");
  client.onerror = events.onError;
  client.setNotificationHandler(ToolListChangedNotificationSchema, events.onToolsChanged);
  // Not by `client.listTools`: it compiles each tool's output schema, whatever the server wrote.
  const readPage = (signal: AbortSignal) => (cursor: string | undefined) =>
    client.request(
      { method: "tools/list", params: cursor ? { cursor } : {} },
      ListToolsResultSchema,
      { timeout: CONNECT_TIMEOUT_MS, signal },
    );
  return {
    ...toSession(client, transport),
    listTools: () => readToolList(readPage(AbortSignal.timeout(LIST_TIMEOUT_MS))),
  };
};

function toSession(client: Client, transport: SessionTransport): Omit<McpSession, "listTools"> {
  return {
    async callTool(name, { args, signal }) {
      const result = await client.callTool({ name, arguments: args }, undefined, {
        timeout: LONGEST_MS,
        ...(signal && { signal }),
      });
      const text = describeResult(result);
      if (result.isError) throw new ToolError(text || `the tool ${name} failed`);
      return text;
    },
    async ping() {
      await client.ping({ timeout: PING_TIMEOUT_MS });
    },
    close: () => end(client, transport),
  };
}

/** Over HTTP a server learns only by a request of its own that nobody will come back to a session. */
interface SessionTransport extends Transport {
  onmessage?: (message: unknown) => void;
  terminateSession?: () => Promise<void>;
}

/** Never rejects: a server that does not hear the farewell is left all the same. */
async function end(client: Client, transport: SessionTransport): Promise<void> {
  delete client.onclose; // the end is ours, and nobody's news
  delete client.onerror;
  const farewell = transport.terminateSession?.() ?? Promise.resolve();
  await untilAbort(farewell, AbortSignal.timeout(FAREWELL_TIMEOUT_MS)).catch(() => {});
  await client.close().catch(() => {});
}

async function createTransport(
  server: McpServer,
  onBreach: OnBreach,
): Promise<SessionTransport> {
  if (server.transport === "http") {
    const { StreamableHTTPClientTransport } = await import(
      "@modelcontextprotocol/sdk/client/streamableHttp.js"
    );
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: server.headers, redirect: "manual" }, // the headers may hold a key
      fetch: createMessageFetch(fetch, { onBreach }),
    });
    return transport as SessionTransport; // its optional fields are typed less strictly than ours
  }
  await requireRun(server.command);
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { command, args, env, cwd } = server;
  return new StdioClientTransport({
    command,
    args,
    env,
    stderr: "ignore", // it may have no end
    maxBufferSize: MAX_MESSAGE_BYTES,
    ...(cwd && { cwd }),
  });
}

/** In our words: what a server says of itself may hold anything, a key included. */
function explain(error: unknown, server: McpServer): string {
  const { code } = error as { code?: unknown };
  if (code === REQUEST_TIMEOUT) return "it did not answer in time";
  if (typeof code === "number" && code >= 100) return `it answered status ${code}`;
  if (server.transport === "http") return "the connection failed";
  if (code === "ENOENT") return `there is no program ${server.command}`;
  return "the program ended, or does not speak MCP";
}

/** Programs are started only where the start of the service named them. */
async function requireRun(command: string): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "run", command });
  if (state === "granted") return;
  throw new Error(
    `the program ${command} may not be started; start the service with --allow-run=${command}`,
  );
}
