import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Metrics } from "../../ops/metrics.ts";
import {
  answerClientErrors,
  BACKLOG,
  type ConnectionLimitOptions,
  limitConnections,
  NO_URL,
  TWO_HOSTS,
} from "./connections.ts";
import { type Admission, createAdmission } from "./admission.ts";
import type { Connection } from "./connection.ts";
import { answerInTurn, closeUnreadBody } from "./in_turn.ts";
import { plainAddress } from "../router/origin.ts";
import { refuse } from "../router/problem.ts";
import type { Service } from "../router/router.ts";
import { sendResponse } from "./send_response.ts";
import { createStop, onStopSignal, type StopOptions } from "./stopping.ts";
import { createWatchdog } from "./watchdog.ts";

interface ServeOptions extends StopOptions {
  /** Named in the message if the port is in use. */
  portVariable: string;
  hostname: string;
  port: number;
  /** Requests that may run at once; further ones are refused. */
  maxRequests: number;
  connections: ConnectionLimitOptions;
  /** How long a request's head may take to arrive, and after it its body. */
  readTimeoutMs: number;
  /** How often the service probes its own port; 0 for never. */
  watchdogMs: number;
  service: Service;
  metrics?: Metrics;
  /** Called when the port is really open, with the service's address. */
  onListen: (url: string) => void;
}

/** A late body is answered with 408; this closes connections whose client ignores the 408. */
const BACKSTOP = 2;

const CHECKING_INTERVAL_MS = 1000;
/**
 * How long a quiet connection is kept: longer than the 60 s of load balancers and proxies. If this end
 * closed first, a request might just have been sent, and its client would get 502.
 */
const KEPT_MS = 75_000;

/**
 * Serves until SIGTERM, SIGINT or SIGHUP, lets what is running finish, then ends the process with 0.
 *
 * On `node:http`, not `Deno.serve`: there (2.9.5) `request.signal` stays silent when the client of a
 * request with more than some 500 bytes leaves, and its run would continue. Nor does it have time
 * limits for slow clients.
 */
export function serve(options: ServeOptions): void {
  const { name, hostname, port, readTimeoutMs, service, log, metrics } = options;
  const admission = createAdmission({
    what: "requests",
    max: options.maxRequests,
    setting: "MAX_REQUESTS",
  });

  async function answer(request: Request, sockets: Sockets): Promise<Response> {
    if (!URL.canParse(request.url)) return refuse(NO_URL); // the listener checks only its characters
    const response = await service(request, toConnection(sockets, admission));
    // A connection that is kept alive would keep the server from closing.
    if (admission.isStopping) response.headers.set("connection", "close");
    await send(response, sockets.outgoing);
    return RESPONSE_ALREADY_SENT;
  }

  /** An error while the body is made gets its own log line: the request's line is already written. */
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
        if (error instanceof RequestError) return refuse(NO_URL);
        log.error("request failed outside of the service", { error });
        return refuse(error);
      },
    },
  );
  function receive(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (incoming.url === watchdog?.path) return void outgoing.writeHead(204).end();
    outgoing.once("close", limit.begin(incoming.socket));
    closeUnreadBody(incoming, outgoing, readTimeoutMs);
    outgoing.once("close", () => { // its connection may have been kept alive before the stop
      if (admission.isStopping) setTimeout(() => server.closeIdleConnections());
    });
    nameHost(incoming);
    if (countHosts(incoming) > 1) sendResponse(refuse(TWO_HOSTS), outgoing);
    else listener(incoming, outgoing);
  }
  const inTurn = answerInTurn(receive);
  const server = createServer({
    requireHostHeader: false, // Node's own answer has no body; ours is `NO_URL`
    keepAliveTimeout: KEPT_MS,
    headersTimeout: readTimeoutMs,
    requestTimeout: readTimeoutMs * BACKSTOP,
    connectionsCheckingInterval: Math.min(CHECKING_INTERVAL_MS, readTimeoutMs),
  }, inTurn.listener);
  server.on("connection", inTurn.watch);
  server.on("checkExpectation", inTurn.listener); // an unknown `Expect`, which a server may ignore
  answerClientErrors(server);
  const limit = limitConnections(server, {
    ...options.connections,
    log,
    onRefused: (reason) => metrics?.connectionRefused(reason),
    onChange: (open) => metrics?.connectionsOpen(open),
  });
  const watchdog = options.watchdogMs === 0 ? undefined : createWatchdog({
    intervalMs: options.watchdogMs,
    onDeaf(reason) {
      log.error(`${name} no longer answers on its own port: ${reason}; exiting`);
      Deno.exit(1);
    },
  });
  server.on("error", (error: Error & { code?: string }) => {
    const reason = error.code === "EADDRINUSE" ? "the port is in use" : error.message;
    const isOfPort = ["EADDRINUSE", "EACCES"].includes(error.code ?? "");
    const variable = isOfPort ? options.portVariable : "HOST";
    log.error(`cannot listen on ${hostname}:${port}: ${reason}; see ${variable}`);
    Deno.exit(1);
  });
  server.listen(port, hostname, BACKLOG, () => {
    watchdog?.start(server.address() as AddressInfo);
    options.onListen(addressOf(server));
  });

  const onSignal = createStop(options, { server, admission, closeUnused: limit.closeUnused });
  onStopSignal(() => {
    watchdog?.stop();
    onSignal();
  });
}

interface Sockets {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/**
 * `ending` is a function and not a getter: in V8 an object with a getter has a hidden class of its
 * own, which keeps everything that the getter can reach until the next full garbage collection.
 */
function toConnection({ incoming, outgoing }: Sockets, admission: Admission): Connection {
  const onClose = (callback: () => void) =>
    outgoing.destroyed ? callback() : void outgoing.once("close", callback);
  let ending: AbortController | undefined;
  return {
    admission,
    address: incoming.socket.remoteAddress ?? "",
    onClose,
    ending() {
      if (!ending) { // most requests never ask
        const controller = ending = new AbortController();
        const end = () => controller.abort(new DOMException("the service ends", "AbortError"));
        onClose(admission.onEnd(end));
      }
      return ending.signal;
    },
  };
}

function countHosts({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
}

/**
 * HTTP/1.0 needs no `Host`, and the health checks of some load balancers send none; browsers always
 * do. The host is then the address that was called.
 */
function nameHost({ httpVersion, headers, socket }: IncomingMessage): void {
  if (httpVersion !== "1.0" || headers.host !== undefined) return;
  headers.host = withPort(plainAddress(socket.localAddress ?? ""), socket.localPort);
}

function addressOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${withPort(address, port)}`;
}

function withPort(address: string, port: number | undefined): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}
