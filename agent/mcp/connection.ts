import { untilAbort } from "../../shared/service/waiting.ts";
import { errorMessage } from "../../shared/service/errors.ts";
import type { Logger } from "../../shared/service/log.ts";
import { ToolError, type ToolResult, type ToolServerState } from "../core/tools/tool.ts";
import { explainCall, isAnswer, isForgotten } from "./result.ts";
import {
  type McpCall,
  type McpConnect,
  type McpSession,
  SlowList,
  StartFailure,
} from "./client.ts";
import { createServerRedactor, type McpServer } from "./config.ts";
import { createListRefresh, createRetryPauses } from "./pauses.ts";
import type { McpToolDefinition, McpToolList } from "./tool_list.ts";

/** Characters of a program's standard error in the log, whose values are cut. */
const MAX_LOGGED = 1_000;

interface McpConnectionOptions {
  connect: McpConnect;
  log: Logger;
  /** Removes the service's secrets from the errors of a server. */
  redact?: (text: string) => string;
  /** The tools or the state have changed. */
  onChange: () => void;
  firstRetryMs?: number;
  listPauseMs?: number;
}

export type McpConnection = ReturnType<typeof openMcpConnection>;

type State =
  /** `opening` never rejects. */
  | { kind: "connecting"; opening: Promise<void> }
  | { kind: "ready"; session: McpSession }
  /** `timer` connects it again. */
  | { kind: "down"; timer: ReturnType<typeof setTimeout> };

function explainList(error: unknown, redact: (text: string) => string): string {
  if (error instanceof SlowList) return error.message;
  return explainCall(error, redact) ?? "it cannot list its tools";
}

/**
 * Starts to connect to a server and returns at once. If its session fails, it is connected again,
 * with growing pauses.
 */
export function openMcpConnection(server: McpServer, options: McpConnectionOptions) {
  const { connect, log, onChange, firstRetryMs, listPauseMs } = options;
  const { name, transport, allow, deny = [] } = server;
  const redact = createServerRedactor(server, options.redact);
  // In a later turn, so that the caller is ready for the first `onChange`.
  let state: State = { kind: "connecting", opening: Promise.resolve().then(open) };
  /** Those of a session that is renewed are still offered. */
  let tools: McpToolDefinition[] = [];
  /** Until the next session. */
  let trouble: { error: string; stderr: string; retryAt: number } | undefined;
  let checking: Promise<void> | undefined;
  let logged: string | undefined;
  /** Sessions that are being ended: a program may take some seconds. */
  const leaving = new Set<Promise<void>>();
  /** Aborted by `close`. */
  const ending = new AbortController();
  const pauses = createRetryPauses({ firstMs: firstRetryMs });
  const refresh = createListRefresh(listAgain, { pauseMs: listPauseMs });

  const sessionNow = () => state.kind === "ready" ? state.session : undefined;

  async function open(): Promise<void> {
    refresh.pause();
    let opened: McpSession | undefined;
    try {
      opened = await connect(server, {
        onClose: (reason) => drop(opened, reason),
        onError: () => void check(opened),
        onToolsChanged: refresh.announce,
        signal: ending.signal,
      });
      take(await opened.listTools());
    } catch (error) {
      await opened?.close().catch(() => {});
      // The errors of `connect` may be shown as they are; those of a session may not.
      if (opened) return fail(explainList(error, redact), opened.readStderr?.());
      const stderr = error instanceof StartFailure ? error.stderr : "";
      return fail(errorMessage(error), stderr);
    }
    if (ending.signal.aborted) return await opened.close();
    state = { kind: "ready", session: opened };
    trouble = undefined;
    pauses.begin();
    log.info("MCP server is ready", { server: name, tools: tools.length });
    onChange();
    refresh.resume();
  }

  function start(): void {
    state = { kind: "connecting", opening: open() };
  }

  function leave(lost: McpSession): void {
    const left = lost.close().catch(() => {}).finally(() => leaving.delete(left));
    leaving.add(left);
  }

  /** Logs what is left out only if that has changed: a list may change every second. */
  function take({ tools: listed, unusable = [], leftOut }: McpToolList): void {
    const names = new Set(listed.map((tool) => tool.name));
    const unknown = [...allow ?? [], ...deny].filter((tool) => !names.has(tool));
    tools = listed.filter((tool) =>
      !deny.includes(tool.name) && (allow?.includes(tool.name) ?? true)
    );
    const missing = JSON.stringify([unusable, leftOut, unknown]);
    if (missing === logged) return;
    logged = missing;
    if (unusable.length > 0) {
      const fields = { server: name, left_out: unusable };
      log.warn("tools of an MCP server are left out: they cannot be used", fields);
    }
    if (unknown.length > 0) {
      const fields = { server: name, tools: unknown };
      log.warn("an MCP server does not have tools that its entry allows or denies", fields);
    }
    if (!leftOut) return;
    const fields = { server: name, reason: leftOut, tools: tools.length };
    log.warn("the tool list of an MCP server is too long: the rest is left out", fields);
  }

  function fail(error: string, stderr = ""): void {
    if (ending.signal.aborted) return;
    const pause = pauses.next();
    tools = [];
    state = { kind: "down", timer: setTimeout(start, pause) };
    trouble = { error, stderr, retryAt: Date.now() + pause };
    log.warn("MCP server is down", {
      server: name,
      reason: error,
      ...(stderr && { stderr: stderr.slice(-MAX_LOGGED) }),
      retry_ms: pause,
    });
    refresh.pause();
    onChange();
  }

  /** Gives up a session, unless it has been given up already. */
  function drop(lost: McpSession | undefined, reason: string): void {
    if (!lost || lost !== sessionNow()) return;
    fail(reason, lost.readStderr?.());
    leave(lost);
  }

  /** Opens a new session at once: the server is up, but no longer knows this one. */
  function renew(forgotten: McpSession | undefined): void {
    if (!forgotten || forgotten !== sessionNow() || ending.signal.aborted) return;
    leave(forgotten);
    log.info("MCP session has expired: a new one is opened", { server: name });
    start();
  }

  /** The session, also one that is being renewed; `undefined` if there is none. */
  async function findSession(signal?: AbortSignal): Promise<McpSession | undefined> {
    if (state.kind === "connecting" && tools.length > 0) await untilAbort(state.opening, signal);
    return sessionNow();
  }

  /** Calls a tool. A server that has forgotten the session has not run it, so it is called again. */
  async function callWithSession(
    asked: McpSession,
    tool: string,
    options: McpCall,
  ): Promise<ToolResult> {
    try {
      return await asked.callTool(tool, options);
    } catch (error) {
      if (!isForgotten(error)) throw error;
      renew(asked);
      const renewed = await findSession(options.signal);
      if (!renewed || renewed === asked) throw error;
      return await renewed.callTool(tool, options);
    }
  }

  /** Pings the server. All callers share one ping. */
  function check(checked: McpSession | undefined): Promise<void> {
    checking ??= (async () => {
      try {
        await checked?.ping();
      } catch (error) {
        if (isForgotten(error)) renew(checked);
        else if (!isAnswer(error)) drop(checked, "it no longer answers");
      } finally {
        checking = undefined;
      }
    })();
    return checking;
  }

  async function listAgain(): Promise<void> {
    const changed = sessionNow();
    if (!changed) return;
    try {
      const listed = await changed.listTools();
      if (changed !== sessionNow()) return;
      take(listed);
      onChange();
    } catch {
      await check(changed);
    }
  }

  /** Throws a `ToolError`, also if the server is down. */
  async function call(tool: string, options: McpCall): Promise<ToolResult> {
    const asked = await findSession(options.signal);
    if (!asked) throw new ToolError(`the server ${name} of this tool is down; answer without it`);
    try {
      return await callWithSession(asked, tool, options);
    } catch (error) {
      if (error instanceof ToolError) throw new ToolError(redact(error.message));
      if (options.signal?.aborted) throw error;
      await check(asked);
      const reason = explainCall(error, redact) ?? "no valid answer from its server";
      if (sessionNow()) throw new ToolError(`the tool ${tool} failed: ${reason}`);
      throw new ToolError(`the server ${name} went down during the call; answer without it`);
    }
  }

  return {
    name,
    /** Empty while there is no session. */
    get tools(): readonly McpToolDefinition[] {
      return tools;
    },
    get state(): ToolServerState {
      return {
        name,
        transport,
        state: state.kind,
        tools: tools.length,
        ...(trouble && {
          error: trouble.error,
          ...(trouble.stderr && { stderr: trouble.stderr }),
          retry_at: new Date(trouble.retryAt).toISOString(),
        }),
      };
    },
    call,
    async close() {
      ending.abort();
      refresh.pause();
      if (state.kind === "ready") leave(state.session);
      else if (state.kind === "down") clearTimeout(state.timer);
      else await state.opening;
      await Promise.all(leaving);
    },
  };
}
