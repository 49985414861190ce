import type { Logger } from "../../shared/log.ts";
import { ToolError, type ToolServerState } from "../tools/tool.ts";
import type { McpConnect, McpSession, McpToolDefinition } from "./client.ts";
import type { McpServer } from "./config.ts";

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

export interface McpConnectionOptions {
  connect: McpConnect;
  log: Logger;
  /** The tools or the state have changed. */
  onChange: () => void;
  firstRetryMs?: number;
}

/** One server over its whole life: it comes, goes, and is called back with growing pauses. */
export interface McpConnection {
  readonly name: string;
  /** Empty while the server is not there. */
  readonly tools: readonly McpToolDefinition[];
  readonly state: ToolServerState;
  /** Throws a `ToolError` also where the server is gone. */
  call(
    tool: string,
    options: { args: Record<string, unknown>; signal?: AbortSignal },
  ): Promise<string>;
  close(): Promise<void>;
}

/** Starts to connect, and waits for nothing. */
export function openMcpConnection(
  server: McpServer,
  { connect, log, onChange, firstRetryMs = FIRST_RETRY_MS }: McpConnectionOptions,
): McpConnection {
  const { name, transport } = server;
  let session: McpSession | undefined;
  let tools: McpToolDefinition[] = [];
  let state: ToolServerState["state"] = "connecting";
  let trouble: { error: string; retryAt: number } | undefined;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function open(): Promise<void> {
    state = "connecting";
    let opened: McpSession | undefined;
    try {
      opened = await connect(server, {
        onClose: () => drop(opened, "it ended"),
        onError: () => void check(opened),
        onToolsChanged: () => void list(opened),
      });
      tools = await opened.listTools();
    } catch (error) {
      await opened?.close().catch(() => {});
      // What `connect` throws may be shown; what a session throws may not.
      if (opened) return fail(explain(error) ?? "it does not list its tools");
      return fail(error instanceof Error ? error.message : String(error));
    }
    if (isClosed) return await opened.close();
    session = opened;
    state = "ready";
    trouble = undefined;
    failures = 0;
    log.info("MCP server is there", { server: name, tools: tools.length });
    onChange();
  }

  function fail(error: string): void {
    if (isClosed) return;
    const pause = Math.min(firstRetryMs * 2 ** failures++, LONGEST_RETRY_MS);
    session = undefined;
    tools = [];
    state = "down";
    trouble = { error, retryAt: Date.now() + pause };
    log.warn("MCP server is not there", { server: name, reason: error, retry_ms: pause });
    clearTimeout(timer);
    timer = setTimeout(open, pause);
    onChange();
  }

  /** Gives up a session; one that was given up before is of no interest any more. */
  function drop(lost: McpSession | undefined, reason: string): void {
    if (!lost || lost !== session) return;
    fail(reason);
    lost.close().catch(() => {});
  }

  async function check(doubted: McpSession | undefined): Promise<void> {
    try {
      await doubted?.ping();
    } catch {
      drop(doubted, "it no longer answers");
    }
  }

  async function list(changed: McpSession | undefined): Promise<void> {
    try {
      const listed = await changed?.listTools();
      if (!listed || changed !== session) return;
      tools = listed;
      onChange();
    } catch {
      await check(changed);
    }
  }

  async function call(
    tool: string,
    options: { args: Record<string, unknown>; signal?: AbortSignal },
  ): Promise<string> {
    const asked = session;
    if (!asked) throw new ToolError(`the server ${name} of this tool is not there now`);
    try {
      return await asked.callTool(tool, options);
    } catch (error) {
      if (error instanceof ToolError || options.signal?.aborted) throw error;
      await check(asked);
      const reason = explain(error) ?? "the call did not get through";
      if (asked === session) throw new ToolError(`the tool ${tool} failed: ${reason}`);
      throw new ToolError(`the server ${name} went away during the call; do without it for now`);
    }
  }

  void Promise.resolve().then(open); // its first news must find the caller ready
  return {
    name,
    get tools() {
      return tools;
    },
    get state() {
      return {
        name,
        transport,
        state,
        tools: tools.length,
        ...(trouble && state !== "ready" && {
          error: trouble.error,
          retry_at: new Date(trouble.retryAt).toISOString(),
        }),
      };
    },
    call,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await session?.close().catch(() => {}); // the others are closed all the same
    },
  };
}

/**
 * What a server answered by the protocol, without its codes. Nothing of any other error: that of a
 * transport holds the raw body of an answer, or an address with its query.
 */
function explain(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "McpError") return undefined;
  return error.message.replace(/^(MCP error -?\d+: )+/, "");
}
