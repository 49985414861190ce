import type { Readable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { filterFields } from "../../shared/service/fields.ts";
import { createOutgoingFetch } from "../../shared/http/outgoing_fetch.ts";
import { explainPermission, type McpServer } from "./config.ts";
import {
  createMessageBuffer,
  createMessageFetch,
  MAX_MESSAGE_BYTES,
  type OnBreach,
} from "./message_limits.ts";

/** The connection of a session. */
export interface SessionTransport extends Omit<Transport, "onmessage"> {
  onmessage?: (message: JSONRPCMessage) => void;
  /** Over HTTP, a separate request tells the server that the session has ended. */
  terminateSession?: () => Promise<void>;
}

interface OpenedTransport {
  transport: SessionTransport;
  /** The end of what a program has written to standard error, redacted; empty for any other server. */
  readStderr(): string;
  /** True if the server has answered 401 with an OAuth challenge. */
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
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/client"
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
  const { deserializeMessage } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  // A class of its own: the SDK asks its own class what it speaks in a second process.
  class ProgramTransport extends StdioClientTransport {}
  const transport: SessionTransport & { stderr: unknown } = new ProgramTransport({
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

/**
 * The environment of a program: what the service passes on, and the entry's own variables, where
 * `null` removes one.
 */
function programEnvironment(
  own: Record<string, string | null>,
  passedOn: Record<string, string>,
): Record<string, string> {
  const all: Record<string, string | null> = { ...passedOn, ...own };
  return filterFields(all, (value) => value !== null) as Record<string, string>;
}

/** The system's folder for temporary files, in which a program without `cwd` starts. */
function temporaryFolder({ TMPDIR, TEMP }: Record<string, string>): string {
  return TMPDIR ?? TEMP ?? "/tmp";
}

const SHOWN_CHARACTERS = 4_096;
/** Older text that is kept: as long as the longest variable or argument, 128 kB on Linux. */
const OLDER_CHARACTERS = 128 * 1024;

// deno-lint-ignore no-control-regex -- this is how terminals are told to change colours
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g;

/**
 * Reads a program's standard error for as long as it lives, and keeps the end of it. It must be read:
 * a program that has filled the pipe is blocked. It keeps more than it shows: a secret without its
 * beginning would not be recognised.
 */
export function keepTail(
  stream: Readable | null,
  redact: (text: string) => string,
  { olderCharacters = OLDER_CHARACTERS }: { olderCharacters?: number } = {},
): () => string {
  const kept = SHOWN_CHARACTERS + olderCharacters;
  const decoder = new TextDecoder();
  let tail = "";
  let isCut = false;
  stream?.on("data", (chunk: Uint8Array) => {
    // Of a long chunk only the end is decoded: a program may write without end.
    const end = chunk.subarray(Math.max(0, chunk.length - 4 * kept));
    tail += decoder.decode(end, { stream: true });
    isCut ||= end.length < chunk.length || tail.length > kept;
    if (tail.length > 2 * kept) tail = tail.slice(-kept); // not with each line: it copies the text
  });
  stream?.on("error", () => {}); // it ends with the program
  const clean = (text: string) => redact(text.replace(COLOURS, ""));
  return () => {
    const older = isCut ? clean(tail.slice(0, -SHOWN_CHARACTERS)) : "";
    const all = clean(tail);
    return all.slice(sharedLength(all, older)).slice(-SHOWN_CHARACTERS).trim();
  };
}

/** The length of the common start of two texts. A secret in the first may be cut in the other. */
function sharedLength(text: string, other: string): number {
  let length = 0;
  while (length < other.length && text[length] === other[length]) length++;
  return length;
}
