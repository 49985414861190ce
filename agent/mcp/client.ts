import type { Client, VersionNegotiationMode } from "@modelcontextprotocol/client";
import { z } from "zod";
import { untilAbort, waitFor } from "../../shared/service/waiting.ts";
import { currentTraceparent } from "../../shared/service/ops/tracing.ts";
import { explainConnection } from "../../shared/providers/failure.ts";
import { ToolError, type ToolResult } from "../core/tools/tool.ts";
import { isAnswer, readResult, statusOf } from "./result.ts";
import { createServerRedactor, type McpServer } from "./config.ts";
import { createFloodGuard, createTransport, type SessionTransport } from "./transport.ts";
import { type McpToolList, readToolList } from "./tool_list.ts";

export interface McpCall {
  args: Record<string, unknown>;
  signal?: AbortSignal | undefined;
}

/** An open session with a server. */
export interface McpSession {
  listTools(): Promise<McpToolList>;
  /** Throws a `ToolError` if the tool reports a failure, any other error if the server failed. */
  callTool(name: string, call: McpCall): Promise<ToolResult>;
  ping(): Promise<void>;
  close(): Promise<void>;
  /** The end of what a program has written to standard error, without secrets. */
  readStderr?(): string;
}

export interface McpEvents {
  /** The session has ended. `reason` contains no text of the server. */
  onClose: (reason: string) => void;
  /** Something failed; the session may still work. */
  onError: () => void;
  onToolsChanged: () => void;
  /** Gives up a start; its program is ended before the call rejects. */
  signal?: AbortSignal;
}

/** Opens a session. Rejects with an error whose message may be shown, or a `StartFailure`. */
export type McpConnect = (server: McpServer, events: McpEvents) => Promise<McpSession>;

/** A server that did not start. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  constructor(
    message: string,
    /** The end of what the program has written to standard error, without secrets. */
    readonly stderr: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A server that did not list its tools in time. */
export class SlowList extends Error {
  constructor(ms: number) {
    super(`it did not list its tools within ${ms / 1000} s ("timeout" of its entry)`);
  }
}

export interface McpConnectOptions {
  /** The limit of a start. The first start of an `npx` entry downloads the server. */
  timeoutMs?: number;
  /** The variables that programs get in addition to those of their entry: `PATH`, `HOME`, locale. */
  environment?: Record<string, string>;
  /** Removes the service's secrets from what a program writes. */
  redact?: (text: string) => string;
}

const START_TIMEOUT_MS = 60_000;
/** For all pages of a list of tools together, if the entry has no `timeout`. */
const LIST_TIMEOUT_MS = 30_000;
const PING_TIMEOUT_MS = 5_000;
/** Limit of the request that ends a session: the service waits for it when it stops. */
const END_TIMEOUT_MS = 1_000;
/** Pause before a stream of changes that broke off is opened again. */
const LISTEN_PAUSE_MS = 1_000;
/** Error codes of the MCP SDK. */
const REQUEST_TIMEOUT = "REQUEST_TIMEOUT";
const NOT_OFFERED = "ERA_NEGOTIATION_FAILED";
/** No limit of the SDK: the agent aborts a call at the tool's time limit. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Uses the official SDK, which is loaded only if a server is configured. */
export function createMcpConnect(options: McpConnectOptions = {}): McpConnect {
  const { environment = {}, redact } = options;
  return async (server, events) => {
    const timeoutMs = server.timeoutMs ?? options.timeoutMs ?? START_TIMEOUT_MS;
    const { Client } = await import("@modelcontextprotocol/client");
    const ToolPage = z.looseObject({
      tools: z.array(z.unknown()),
      nextCursor: z.string().optional(),
    });
    const client = new Client({ name: "assay-agent", version: "1" }, {
      versionNegotiation: { mode: negotiation(server), probe: { timeoutMs } },
    });
    const { transport, readStderr, asksForSignIn } = await createTransport(server, {
      onBreach,
      environment,
      redact: createServerRedactor(server, redact),
    });
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
      await startWithin(client, { transport, timeoutMs, signal: events.signal });
    } catch (cause) {
      await end(client, transport);
      const message = asksForSignIn() ? SIGN_IN : explain(cause, { server, timeoutMs });
      throw new StartFailure(message, readStderr(), { cause });
    }
    client.onclose = () => events.onClose("the session ended");
    client.onerror = events.onError;
    client.setNotificationHandler(LIST_CHANGED, events.onToolsChanged);
    const isModern = client.getProtocolEra() === "modern";
    const ending = new AbortController();
    if (isModern) void followChanges(client, events, ending.signal);
    return {
      async listTools() {
        const listMs = server.timeoutMs ?? LIST_TIMEOUT_MS;
        const limit = AbortSignal.timeout(listMs);
        // Not with `client.listTools`, which compiles every output schema, whatever the server sends.
        const readPage = (cursor: string | undefined) =>
          client.request(
            { method: "tools/list", params: cursor ? { cursor } : {} },
            ToolPage,
            { timeout: NO_TIMEOUT_MS, signal: limit },
          );
        try {
          return await readToolList(readPage);
        } catch (error) {
          throw limit.aborted ? new SlowList(listMs) : error;
        }
      },
      async callTool(name, { args, signal }) {
        // Not with `client.callTool`, which rejects the whole result if one part is invalid.
        const traceparent = currentTraceparent();
        const params = {
          name,
          arguments: args,
          _meta: traceparent ? { traceparent } : undefined,
        };
        const result = await client.request(
          { method: "tools/call", params },
          CallResult,
          { timeout: NO_TIMEOUT_MS, ...(signal && { signal }) },
        );
        const read = readResult(result);
        if (result.isError) throw new ToolError(read.text || `the tool ${name} failed`);
        return read.images.length > 0 ? read : read.text;
      },
      async ping() {
        const options = { timeout: PING_TIMEOUT_MS };
        await (isModern ? client.discover(options) : client.ping(options));
      },
      close() {
        ending.abort();
        return end(client, transport);
      },
      readStderr,
    };
  };
}

const SIGN_IN = "it asks for an OAuth sign-in, which the agent does not support; " +
  'write a token of its own into "headers": { "authorization": "Bearer …" }';

/** The SDK's own limit starts only once the connection is open. */
async function startWithin(
  client: Client,
  { transport, timeoutMs, signal }: {
    transport: SessionTransport;
    timeoutMs: number;
    signal: AbortSignal | undefined;
  },
): Promise<void> {
  signal?.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const connecting = client.connect(transport, { timeout: timeoutMs });
    connecting.catch(() => {}); // it may still fail after the limit
    await untilAbort(connecting, signal ? AbortSignal.any([late.signal, signal]) : late.signal);
  } catch (error) {
    throw late.signal.aborted ? Object.assign(new Error("late"), { code: REQUEST_TIMEOUT }) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The content is unchecked here: `readResult` reads its parts one by one. */
const CallResult = z.looseObject({
  content: z.unknown().optional(),
  isError: z.boolean().nullish(),
});

const LIST_CHANGED = "notifications/tools/list_changed";

/**
 * Over HTTP the server is asked what it speaks. A program is asked only if its entry says so: many
 * end at a request before `initialize`.
 */
function negotiation(server: McpServer): VersionNegotiationMode {
  if (server.transport === "http") return "auto";
  if (server.transport === "stdio" && server.protocolVersion) {
    return { pin: server.protocolVersion };
  }
  return "legacy";
}

/** From 2026-07-28 on, a server tells changes only on a stream that the client holds open. */
async function followChanges(
  client: Client,
  { onToolsChanged }: McpEvents,
  signal: AbortSignal,
): Promise<void> {
  if (!client.getServerCapabilities()?.tools?.listChanged) return;
  try {
    while (!signal.aborted) {
      const { closed } = await client.listen({ toolsListChanged: true }, { signal });
      if (await closed !== "remote") return;
      await waitFor(new Promise(() => {}), { ms: LISTEN_PAUSE_MS, signal });
      onToolsChanged(); // the list may have changed in the meantime
    }
  } catch {
    // The server does not tell changes after all. If it is down, the next call finds out.
  }
}

/** Ends the session, even if the server does not answer. Never rejects. */
async function end(client: Client, transport: SessionTransport): Promise<void> {
  delete client.onclose; // the agent ends the session: nothing to report
  delete client.onerror;
  const ended = transport.terminateSession?.() ?? Promise.resolve();
  await untilAbort(ended, AbortSignal.timeout(END_TIMEOUT_MS)).catch(() => {});
  await client.close().catch(() => {});
}

/** The codes of the SDK for an answer that is not of the protocol. */
const OTHER_CONTENT: readonly unknown[] = ["CLIENT_HTTP_UNEXPECTED_CONTENT", "INVALID_RESULT"];

/** Why an HTTP answer did not start a session; `undefined` if there was no answer. */
function explainProtocol(error: unknown): string | undefined {
  const { code, name, message } = error as Error & { code?: unknown };
  if (/protocol version is not supported/.test(message)) {
    return "it speaks a version of MCP that is not supported";
  }
  if (isAnswer(error)) return "it refused to start a session";
  const isOther = OTHER_CONTENT.includes(code) || error instanceof SyntaxError || /Zod/.test(name);
  return isOther ? "its answer is not from an MCP server; check its url" : undefined;
}

/** Contains no text of the server, which might include a key. */
function explain(
  given: unknown,
  { server, timeoutMs }: { server: McpServer; timeoutMs: number },
): string {
  const { code: outer, cause } = given as { code?: unknown; cause?: unknown };
  const error = outer === NOT_OFFERED ? cause ?? given : given; // why the question itself failed
  const { code } = error as { code?: unknown };
  const status = statusOf(error);
  if (code === REQUEST_TIMEOUT) {
    return `it did not answer within ${timeoutMs / 1000} s ` +
      '("timeout" of its entry)';
  }
  if (status !== undefined) return `it answered with status ${status}`;
  if (server.transport !== "stdio") return explainProtocol(error) ?? explainConnection(error);
  if (code === NOT_OFFERED) return 'it does not speak the "protocolVersion" of its entry';
  if (code === "ENOENT") return `the program ${server.command} was not found`;
  return "the program ended, or does not speak MCP";
}
