import type { Logger } from "../../shared/log.ts";
import { ToolError, type ToolServerState } from "../tools/tool.ts";
import { AnswerTooLarge } from "../../shared/http/bounded_fetch.ts";
import type { McpConnect, McpSession } from "./client.ts";
import type { McpServer } from "./config.ts";
import { MAX_MESSAGE_BYTES } from "./message_limits.ts";
import type { McpToolDefinition, McpToolList } from "./tool_list.ts";

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** How often a list that changes is read, whatever the server says. */
const LIST_PAUSE_MS = 1_000;

export interface McpConnectionOptions {
  connect: McpConnect;
  log: Logger;
  /** The tools or the state have changed. */
  onChange: () => void;
  firstRetryMs?: number;
  listPauseMs?: number;
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
  options: McpConnectionOptions,
): McpConnection {
  const { connect, log, onChange } = options;
  const { firstRetryMs = FIRST_RETRY_MS, listPauseMs = LIST_PAUSE_MS } = options;
  const { name, transport } = server;
  let session: McpSession | undefined;
  let tools: McpToolDefinition[] = [];
  let state: ToolServerState["state"] = "connecting";
  let trouble: { error: string; retryAt: number } | undefined;
  let failures = 0;
  let readySince = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let listedAt = -Infinity;
  let isListing = false;
  /** The list has changed since it was last asked for. */
  let isOutdated = false;
  let listTimer: ReturnType<typeof setTimeout> | undefined;
  let checking: Promise<void> | undefined;
  let isClosed = false;

  async function open(): Promise<void> {
    state = "connecting";
    isOutdated = false;
    let opened: McpSession | undefined;
    try {
      opened = await connect(server, {
        onClose: (reason) => drop(opened, reason),
        onError: () => void check(opened),
        onToolsChanged: listSoon,
      });
      take(await opened.listTools());
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
    readySince = performance.now();
    log.info("MCP server is there", { server: name, tools: tools.length });
    onChange();
    if (isOutdated) listSoon();
  }

  function take({ tools: listed, leftOut }: McpToolList): void {
    tools = listed;
    if (!leftOut) return;
    const fields = { server: name, reason: leftOut, tools: tools.length };
    log.warn("the list of an MCP server is too long: the rest of its tools is left out", fields);
  }

  function fail(error: string): void {
    if (isClosed) return;
    // A server that comes only to go again is not called back every second.
    const wasReady = state === "ready" && performance.now() - readySince >= LONGEST_RETRY_MS;
    if (wasReady) failures = 0;
    const pause = Math.min(firstRetryMs * 2 ** failures++, LONGEST_RETRY_MS);
    session = undefined;
    tools = [];
    state = "down";
    trouble = { error, retryAt: Date.now() + pause };
    log.warn("MCP server is not there", { server: name, reason: error, retry_ms: pause });
    clearTimeout(timer);
    clearTimeout(listTimer);
    listTimer = undefined;
    timer = setTimeout(open, pause);
    onChange();
  }

  /** Gives up a session; one that was given up before is of no interest any more. */
  function drop(lost: McpSession | undefined, reason: string): void {
    if (!lost || lost !== session) return;
    fail(reason);
    lost.close().catch(() => {});
  }

  /** One ping at a time, however many have doubts. */
  function check(doubted: McpSession | undefined): Promise<void> {
    checking ??= (async () => {
      try {
        await doubted?.ping();
      } catch {
        drop(doubted, "it no longer answers");
      } finally {
        checking = undefined;
      }
    })();
    return checking;
  }

  /** Announcements that come while one is waiting to be followed are followed with it. */
  function listSoon(): void {
    if (isListing || state === "connecting") isOutdated = true;
    else if (session && !isClosed && listTimer === undefined) {
      const wait = Math.max(0, listedAt + listPauseMs - performance.now());
      listTimer = setTimeout(list, wait, session);
    }
  }

  async function list(changed: McpSession): Promise<void> {
    listTimer = undefined;
    isListing = true;
    isOutdated = false;
    try {
      const listed = await changed.listTools();
      if (changed !== session) return;
      take(listed);
      onChange();
    } catch {
      await check(changed);
    } finally {
      isListing = false;
      listedAt = performance.now();
      if (isOutdated) listSoon();
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
      clearTimeout(listTimer);
      await session?.close().catch(() => {}); // the others are closed all the same
    },
  };
}

/**
 * What a server answered by the protocol, without its codes. Nothing of any other error: that of a
 * transport holds the raw body of an answer, or an address with its query.
 */
function explain(error: unknown): string | undefined {
  if (error instanceof AnswerTooLarge) return `its result is over ${MAX_MESSAGE_BYTES} bytes`;
  if (!(error instanceof Error) || error.name !== "McpError") return undefined;
  return error.message.replace(/^(MCP error -?\d+: )+/, "");
}
