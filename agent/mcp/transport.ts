import type { Readable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { createOutgoingFetch } from "../../shared/http/fetch/outgoing_fetch.ts";
import type { McpServer } from "./config.ts";
import { createMessageBuffer } from "./message_buffer.ts";
import { createMessageFetch, MAX_MESSAGE_BYTES, type OnBreach } from "./message_limits.ts";
import { explainPermission } from "./permission_help.ts";
import { programEnvironment, temporaryFolder } from "./program_environment.ts";
import { keepTail } from "./stderr_tail.ts";

/** The connection of a session. */
export interface SessionTransport extends Transport {
  onmessage?: (message: unknown) => void;
  /** Over HTTP, a separate request tells the server that the session has ended. */
  terminateSession?: () => Promise<void>;
}

interface OpenedTransport {
  transport: SessionTransport;
  /** The end of what a program has written to standard error, redacted; empty for any other server. */
  readStderr(): string;
  /** True if the server has answered 401 with the words of OAuth. */
  asksForSignIn(): boolean;
}

interface TransportOptions {
  onBreach: OnBreach;
  environment: Record<string, string>;
  /** Removes secrets from what a program writes. */
  redact: (text: string) => string;
}

/** Creates the transport of a server. Rejects if the program may not be started. */
export async function createTransport(
  server: McpServer,
  options: TransportOptions,
): Promise<OpenedTransport> {
  if (server.transport === "stdio") return await createProgram(server, options);
  let asksForSignIn = false;
  const send = createMessageFetch(createOutgoingFetch({ maxBytes: Infinity }), options);
  const requests = {
    requestInit: { headers: server.headers },
    fetch: (async (input, init) => {
      const response = await send(input, init);
      const challenge = response.headers.get("www-authenticate") ?? "";
      asksForSignIn ||= response.status === 401 && /^bearer\b/i.test(challenge);
      return response;
    }) as typeof fetch,
  };
  const url = new URL(server.url);
  const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  // Their optional fields are typed less strictly.
  const transport =
    (server.transport === "sse"
      ? new SSEClientTransport(url, requests)
      : new StreamableHTTPClientTransport(url, requests)) as SessionTransport;
  return { transport, readStderr: () => "", asksForSignIn: () => asksForSignIn };
}

async function createProgram(
  { command, args, env, cwd }: Extract<McpServer, { transport: "stdio" }>,
  { onBreach, environment, redact }: TransportOptions,
): Promise<OpenedTransport> {
  await requireRun(command);
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { deserializeMessage } = await import("@modelcontextprotocol/sdk/shared/stdio.js");
  const transport = new StdioClientTransport({
    command,
    args,
    env: programEnvironment(env, environment),
    cwd: cwd ?? temporaryFolder(environment),
    stderr: "pipe",
  });
  const limits = { parse: deserializeMessage, maxBytes: MAX_MESSAGE_BYTES, onBreach };
  Object.assign(transport, { _readBuffer: createMessageBuffer(limits) }); // the SDK has no option
  const readStderr = keepTail(transport.stderr as Readable | null, redact);
  return { transport, readStderr, asksForSignIn: () => false };
}

/** A program is started only if the service was started with the permission for it. */
async function requireRun(command: string): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "run", command });
  if (state === "granted") return;
  const help = explainPermission(`--allow-run=${command}`);
  throw new Error(`no permission to start the program ${command}; ${help}`);
}
