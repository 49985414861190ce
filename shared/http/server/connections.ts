import type { Server } from "node:http";
import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { AppError, type ErrorCode } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { isLoopback, plainAddress } from "../router/origin.ts";
import { toProblem } from "../router/problem.ts";

/** Connections that may wait to be accepted: all at once, so each needs a file descriptor. */
export const BACKLOG = 128;
/** File descriptors reserved for the database, workers, programs and refused connections. */
const RESERVED_FILES = 64;
/** From this share of the limit on, a new connection closes the one that was quiet longest. */
const NEAR = 0.9;
/** A connection that was busy within this time is not closed for another. */
const QUIET_MS = 1000;
/** Refusals that may be answered at the same time; further connections are closed at once. */
const MAX_TOLD = 16;
/** How long a refused client may take to send its request and to read the refusal. */
const TELL_MS = 1000;
/** The shortest time between two log lines about refusals. */
const LOG_MS = 10_000;

/** How many files a service may have open with so many connections in and out. */
export function filesNeeded({ incoming, outgoing }: { incoming: number; outgoing: number }) {
  return incoming + outgoing + BACKLOG + RESERVED_FILES;
}

/**
 * True if this process may open so many more files. It opens them, because the limit itself cannot
 * be read: Deno allows `/proc/self/limits` only to processes with every permission. Call it before
 * anything else runs in the process.
 *
 * A service must never run out of files: after one failed `accept` Deno's `node:http` (2.9.5) accepts
 * no connection any more.
 */
export function canOpenFiles(count: number): boolean {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < count) files.push(Deno.openSync("/dev/null"));
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== "EMFILE"; // other errors say nothing about the limit
  } finally {
    for (const file of files) file.close();
  }
}

/** An IPv6 address counts as its /64: one customer has all 2^64 addresses of it. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`).toString();
}

/** Why a connection was refused: too many in all, or from its address. */
type RefusalReason = "total" | "address";

export interface ConnectionLimitOptions {
  /** Connections open at once. */
  total: number;
  /** Of one address (IPv6: of one /64). Unset: half of `total`, and no limit for loopback. */
  perAddress?: number | undefined;
  /** Addresses that stand for many callers: only `total` limits them. */
  trustedProxies: string[];
}

export interface ConnectionLimit {
  /** Marks a connection as busy until the function that it returns is called. */
  begin(socket: Socket): () => void;
  /**
   * Closes connections without a request: those that have not sent a byte, as browsers open them
   * ahead; with `half`, also those whose request's head has not arrived in full.
   */
  closeUnused(options: { half: boolean }): void;
}

interface OpenConnection {
  socket: Socket;
  address: string;
  /** Running requests. */
  busy: number;
  quietSince: number;
}

/**
 * Keeps the number of connections below `total`. Quiet connections are closed to make room; if there
 * are none, newcomers get 503 and are closed. Must be called before the server listens.
 */
export function limitConnections(
  server: Server,
  { total, perAddress, trustedProxies, log, onRefused, onChange }: ConnectionLimitOptions & {
    log: Logger;
    onRefused(reason: RefusalReason): void;
    /** Called with the number of open connections whenever it changes. */
    onChange(open: number): void;
  },
): ConnectionLimit {
  const connections = new Map<Socket, OpenConnection>(); // quiet longest first
  const byAddress = new Map<string, number>();
  const refused = { since: -LOG_MS, total: 0, address: 0 };
  let telling = 0;

  // Refused sockets must not reach the server's HTTP parser, which would read their requests.
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const reason = admit(socket);
    if (reason === undefined) return listeners.forEach((listener) => listener.call(server, socket));
    onRefused(reason);
    logRefusal(reason);
    refuse(socket);
  });

  function limitOf(address: string): number {
    if (trustedProxies.includes(address)) return total;
    return perAddress ?? (isLoopback(address) ? total : Math.ceil(total / 2));
  }

  function admit(socket: Socket): RefusalReason | undefined {
    const direct = plainAddress(socket.remoteAddress ?? "");
    const address = networkOf(direct);
    const limit = limitOf(direct);
    const ofAddress = () => byAddress.get(address) ?? 0;
    if (connections.size >= total * NEAR) closeQuietest(() => true);
    if (connections.size >= total) return "total";
    if (ofAddress() >= limit * NEAR) closeQuietest((one) => one.address === address);
    if (ofAddress() >= limit) return "address";
    connections.set(socket, { socket, address, busy: 0, quietSince: performance.now() });
    byAddress.set(address, ofAddress() + 1);
    onChange(connections.size);
    socket.once("close", () => forget(socket));
  }

  function forget(socket: Socket): void {
    const one = connections.get(socket);
    if (!one) return;
    connections.delete(socket);
    const left = (byAddress.get(one.address) ?? 1) - 1;
    if (left > 0) byAddress.set(one.address, left);
    else byAddress.delete(one.address);
    onChange(connections.size);
  }

  /** Includes connections that have not sent anything yet, once they are older than `QUIET_MS`. */
  function closeQuietest(isMeant: (one: OpenConnection) => boolean): void {
    const before = performance.now() - QUIET_MS;
    for (const one of connections.values()) {
      if (one.quietSince > before) return; // the others were busy even later
      if (one.busy > 0 || !isMeant(one)) continue;
      forget(one.socket);
      one.socket.destroy();
      return;
    }
  }

  /** The first refusal at once, later ones with the next line. */
  function logRefusal(reason: RefusalReason): void {
    refused[reason]++;
    if (performance.now() - refused.since < LOG_MS) return;
    log.warn("connections were refused: too many are open (MAX_CONNECTIONS)", {
      open: connections.size,
      over_total: refused.total,
      over_address: refused.address,
    });
    Object.assign(refused, { since: performance.now(), total: 0, address: 0 });
  }

  function refuse(socket: Socket): void {
    socket.on("error", () => {}); // the client has left
    if (telling >= MAX_TOLD) return void socket.destroy();
    telling++;
    const timer = setTimeout(() => socket.destroy(), TELL_MS);
    socket.once("close", () => {
      telling--;
      clearTimeout(timer);
    });
    // Not before the request: clients treat an unsolicited answer as a broken connection. Reading
    // goes on after it: closing with unread bytes would reset the connection before the answer arrives.
    socket.once("data", () => socket.end(renderProblem(tooManyConnections())));
    socket.once("end", () => socket.destroy());
    socket.resume();
  }

  return {
    begin(socket) {
      const one = connections.get(socket);
      if (!one) return () => {};
      one.busy++;
      return () => {
        one.busy--;
        one.quietSince = performance.now();
        if (connections.delete(socket)) connections.set(socket, one);
      };
    },
    closeUnused({ half }) {
      for (const { socket, busy } of connections.values()) {
        if (busy > 0 || socket.writableLength > 0) continue; // an answer is being sent
        if (half || socket.bytesRead === 0) socket.destroy();
      }
    },
  };
}

function tooManyConnections(): AppError {
  return new AppError(503, "overloaded", "too many connections; retry in 2 s", {
    headers: { "retry-after": "2" },
  });
}

const cannotRead = (status: number, code: ErrorCode, reason: string) =>
  new AppError(status, code, `cannot read the request: ${reason}`);

const TOO_SLOW = cannotRead(408, "request_timeout", "it arrived too slowly");
const TOO_LONG = cannotRead(431, "invalid_request", "its header section is too long");
const BROKEN = cannotRead(400, "invalid_request", "it is not HTTP");

/** There is no URL to route by. */
export const NO_URL = cannotRead(
  400,
  "invalid_request",
  "its Host header is missing, or makes no valid URL with its path",
);

/** RFC 9112, 3.2: a proxy in front may have used the other one. */
export const TWO_HOSTS = cannotRead(400, "invalid_request", "it has two Host headers");

/** Answers bytes that are no valid request with a problem document, and closes the connection. */
export function answerClientErrors(server: Server): void {
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy();
    socket.end(renderProblem(classify(error.code)), () => socket.destroy());
  });
}

function classify(code: string | undefined): AppError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return TOO_SLOW;
  return code === "HPE_HEADER_OVERFLOW" ? TOO_LONG : BROKEN;
}

/** A whole HTTP answer with a problem document, for a connection that is closed after it. */
function renderProblem(error: AppError): string {
  const id = crypto.randomUUID();
  const problem = toProblem(error, id);
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${error.status} ${problem.title}`,
    "content-type: application/problem+json",
    `content-length: ${new TextEncoder().encode(body).length}`,
    `x-request-id: ${id}`,
    ...Object.entries(error.headers).map(([name, value]) => `${name}: ${value}`),
    "connection: close",
    "",
    body,
  ].join("\r\n");
}
