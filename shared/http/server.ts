import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Logger } from "../log.ts";
import { onStopSignal } from "../stop_signals.ts";
import { type Admission, createAdmission } from "./admission.ts";
import { answerClientErrors } from "./client_errors.ts";
import type { Connection } from "./connection.ts";
import { refuse, unreadable } from "./refusal.ts";
import type { Service } from "./router.ts";
import { sendResponse } from "./send_response.ts";

export interface ServeOptions {
  /** Names the service in its own log lines. */
  name: string;
  /** Named in the message when the port is taken. */
  portVariable: string;
  hostname: string;
  port: number;
  /** How long running requests may take to finish once the service is told to stop. */
  graceMs: number;
  /** Requests under way at once; what comes beyond is refused. */
  maxRequests: number;
  /** How long a request's head may take to arrive, and after it its body. */
  readTimeoutMs: number;
  service: Service;
  log: Logger;
  /** Ends what the service does beside answering requests, while the last of these are answered. */
  stop?: () => Promise<void>;
  /** Closes what the service holds, after the last answer. */
  close?: () => Promise<void>;
  /** Called when the port is really open, with the service's address. */
  onListen: (url: string) => void;
}

/** The body's own limit is told to the caller; this one is for who does not even read that. */
const BACKSTOP = 2;

const CHECKING_INTERVAL_MS = 1000;
const LAST_WORDS_MS = 50;

/**
 * Serves until SIGTERM or SIGINT, lets what is running finish, then ends the process with 0.
 *
 * On `node:http`, not `Deno.serve`: there (2.9.5) `request.signal` stays silent when the client of a
 * request with more than some 500 bytes leaves, and a run that nobody waits for would go on. Nor
 * does it have time limits for slow clients.
 */
export function serve(options: ServeOptions): void {
  const { name, hostname, port, graceMs, readTimeoutMs, service, log } = options;
  const admission = createAdmission(options.maxRequests);

  async function answer(request: Request, sockets: Sockets): Promise<Response> {
    const response = await service(request, toConnection(sockets, admission));
    // Whatever was answered: a connection that is kept would keep the server from closing.
    if (admission.isStopping) response.headers.set("connection", "close");
    await send(response, sockets.outgoing);
    return RESPONSE_ALREADY_SENT;
  }

  /** What the body's maker throws was not foreseen: the request's own line is written by then. */
  async function send(response: Response, outgoing: ServerResponse): Promise<void> {
    try {
      await sendResponse(response, outgoing);
    } catch (error) {
      log.error("an answer was cut", { request_id: response.headers.get("x-request-id"), error });
      if (!outgoing.headersSent) await sendResponse(refuse(error), outgoing);
    }
  }

  const listener = getRequestListener(
    (request, sockets) => answer(request, sockets as unknown as Sockets),
    {
      overrideGlobalObjects: false,
      errorHandler(error) {
        if (error instanceof RequestError) return refuse(unreadable());
        log.error("request failed outside of the service", { error });
        return refuse(error);
      },
    },
  );
  const server = createServer({
    headersTimeout: readTimeoutMs,
    requestTimeout: readTimeoutMs * BACKSTOP,
    connectionsCheckingInterval: Math.min(CHECKING_INTERVAL_MS, readTimeoutMs),
  }, listener);
  answerClientErrors(server);
  server.on("error", (error: Error & { code?: string }) => {
    const reason = error.code === "EADDRINUSE" ? "the port is taken" : error.message;
    log.error(`cannot listen on ${hostname}:${port}: ${reason}; see ${options.portVariable}`);
    Deno.exit(1);
  });
  server.listen(port, hostname, () => options.onListen(addressOf(server)));

  async function stop(): Promise<void> {
    if (admission.isStopping) return cut(); // a second signal: someone is in a hurry
    admission.stop();
    log.info(`${name} is stopping`, { grace_ms: graceMs, running: admission.taken });
    const timer = setTimeout(() => {
      log.warn(`${name} stopped with requests still running`, { running: admission.taken });
      cut();
    }, graceMs);
    await Promise.all([close(server), options.stop?.()]);
    await options.close?.();
    clearTimeout(timer);
    log.info(`${name} has stopped`);
    exit();
  }

  /** Ends what still runs, and leaves each request the time for its log line. */
  function cut(): void {
    server.closeAllConnections();
    setTimeout(exit, LAST_WORDS_MS);
  }

  onStopSignal(stop);
}

function exit(): void {
  try {
    Deno.exit(0);
  } catch {
    // under `--watch` the process ends a moment later
  }
}

interface Sockets {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

function toConnection({ incoming, outgoing }: Sockets, admission: Admission): Connection {
  return {
    admission,
    address: incoming.socket.remoteAddress ?? "",
    onClose: (callback) => outgoing.destroyed ? callback() : void outgoing.once("close", callback),
  };
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** Settles when the last running request is answered; connections without one are closed. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
