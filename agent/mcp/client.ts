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

/** An open session with a server. */
export interface McpSession {
  listTools(): Promise<McpToolList>;
  /** Throws a `ToolError` if the tool reports a failure, any other error if the server failed. */
  callTool(
    name: string,
    options: { args: Record<string, unknown>; signal?: AbortSignal },
  ): Promise<string>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface McpEvents {
  /** The session has ended. `reason` contains no text of the server. */
  onClose: (reason: string) => void;
  /** Something failed; the session may still work. */
  onError: () => void;
  onToolsChanged: () => void;
}

/** Opens a session. Rejects with an error whose message may be shown. */
export type McpConnect = (server: McpServer, events: McpEvents) => Promise<McpSession>;

const CONNECT_TIMEOUT_MS = 10_000;
/** For all pages of a list of tools together. */
const LIST_TIMEOUT_MS = 30_000;
const PING_TIMEOUT_MS = 5_000;
/** Limit of the request that ends a session: the service waits for it when it stops. */
const END_TIMEOUT_MS = 1_000;
/** The error code of the MCP SDK. */
const REQUEST_TIMEOUT = -32001;
/** No limit of the SDK: the agent aborts a call at the tool's time limit. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Uses the official SDK, which is loaded only if a server is configured. */
export const connectMcp: McpConnect = async (server, events) => {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { ToolListChangedNotificationSchema, ListToolsResultSchema } = await import(
    "@modelcontextprotocol/sdk/types.js"
  );
  const client = new Client({ name: "assay-agent", version: "1" });
  const transport = await createTransport(server, onBreach);
  transport.onmessage = createFloodGuard(onBreach); // the client adds its own handler to this one
  let isOver = false;

  /** Ends the session with a server that exceeds the limits. Its pending calls fail. */
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
  client.onclose = () => events.onClose("the session ended");
  client.onerror = events.onError;
  client.setNotificationHandler(ToolListChangedNotificationSchema, events.onToolsChanged);
  // Not with `client.listTools`: it compiles every output schema, and the server may send any.
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
        timeout: NO_TIMEOUT_MS,
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

/** Over HTTP, a separate request tells the server that the session has ended. */
interface SessionTransport extends Transport {
  onmessage?: (message: unknown) => void;
  terminateSession?: () => Promise<void>;
}

/** Ends the session, even if the server does not answer. Never rejects. */
async function end(client: Client, transport: SessionTransport): Promise<void> {
  delete client.onclose; // the agent ends the session: nothing to report
  delete client.onerror;
  const ended = transport.terminateSession?.() ?? Promise.resolve();
  await untilAbort(ended, AbortSignal.timeout(END_TIMEOUT_MS)).catch(() => {});
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
      requestInit: { headers: server.headers, redirect: "manual" }, // the headers may contain a key
      fetch: createMessageFetch(fetch, { onBreach }),
    });
    return transport as SessionTransport; // its optional fields are typed less strictly
  }
  await requireRun(server.command);
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { command, args, env, cwd } = server;
  return new StdioClientTransport({
    command,
    args,
    env,
    stderr: "ignore", // it may be endless
    maxBufferSize: MAX_MESSAGE_BYTES,
    ...(cwd && { cwd }),
  });
}

/** Without any text of the server, which may contain anything, also a key. */
function explain(error: unknown, server: McpServer): string {
  const { code } = error as { code?: unknown };
  if (code === REQUEST_TIMEOUT) return "it did not answer in time";
  if (typeof code === "number" && code >= 100) return `it answered with status ${code}`;
  if (server.transport === "http") return "the connection failed";
  if (code === "ENOENT") return `the program ${server.command} was not found`;
  return "the program ended, or does not speak MCP";
}

/** A program is started only if the service was started with the permission for it. */
async function requireRun(command: string): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "run", command });
  if (state === "granted") return;
  throw new Error(
    `no permission to start the program ${command}; start the service with --allow-run=${command}`,
  );
}
