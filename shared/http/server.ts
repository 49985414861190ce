import type { Metrics } from "../service/ops/metrics.ts";
import { serviceUrl } from "../service/config.ts";
import { AppError } from "../service/errors.ts";
import { type Admission, type Connection, createAdmission } from "./connection.ts";
import { finishAnswer, isStream, refuse, StalledReader } from "./answer.ts";
import type { Service } from "./router.ts";
import { createStop, onStopSignal, type StopOptions } from "./stopping.ts";

interface ServeOptions extends StopOptions {
  /** Named in the message if the port is in use. */
  portVariable: string;
  hostname: string;
  port: number;
  service: Service;
  metrics?: Metrics;
  /** Called when the port is really open, with the service's address. */
  onListen: (url: string) => void;
}

/** Requests that may run at once; further ones are refused. */
const MAX_REQUESTS = 1000;

/** How long a client may read nothing before its answer ends and no longer counts as running. */
const STALL_MS = 60_000;

/** From one look whether the port is still open to the next. */
const CHECK_MS = 1000;

/**
 * Serves until SIGTERM, SIGINT or SIGHUP, lets what is running finish, then ends the process with 0.
 *
 * Deno 2.7.7 is the newest release for this: the HTTP/1.1 of 2.8.3 to 2.9.6 does not report that the
 * client of a plain answer has left, and its run would continue. `tests/newest_deno_canary_test.ts`
 * says when a newer one may be taken.
 */
export function serve(options: ServeOptions): void {
  const { hostname, service, log } = options;
  const admission = createAdmission({ what: "requests", max: MAX_REQUESTS });
  const ending = new AbortController();
  const requests = createTally();

  async function answer(
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Promise<Response> {
    const { connection, close } = toConnection(info, admission);
    connection.onClose(requests.begin());
    const response = hasHost(request) ? await service(request, connection) : refuse(NO_HOST);
    const onCut = (error: unknown) => {
      log.error("an answer was cut", { request_id: response.headers.get("x-request-id"), error });
      if (error instanceof StalledReader) close();
    };
    if (!isStream(response)) {
      const timer = setTimeout(close, STALL_MS);
      connection.onClose(() => clearTimeout(timer));
    }
    return await finishAnswer(response, { request, onCut, stallMs: STALL_MS });
  }

  function open(port: number): Deno.HttpServer<Deno.NetAddr> {
    const server = Deno.serve({
      hostname,
      port,
      signal: ending.signal,
      onListen() {},
      onError(error) {
        log.error("request failed outside of the service", { error });
        return refuse(error);
      },
    }, answer);
    server.finished.catch(() => {}); // see `reopen`
    servers.push(server);
    return server;
  }

  /**
   * Deno closes a port when it cannot accept a connection because all files are in use, and keeps the
   * open connections. A port that can be opened again was closed.
   */
  function reopen(port: number): void {
    try {
      open(port);
      log.error("the port was closed because too many files were open; it is open again");
    } catch {
      // it is open
    }
  }

  const servers: Deno.HttpServer<Deno.NetAddr>[] = [];
  const { port } = openFirst(() => open(options.port), options);
  options.onListen(serviceUrl(hostname, port));
  const timer = setInterval(() => reopen(port), CHECK_MS);
  const finish = () => {
    clearInterval(timer);
    return Promise.race([
      Promise.all(servers.map((server) => server.shutdown().catch(() => {}))),
      requests.none(),
    ]);
  };
  onStopSignal(createStop(options, { admission, finish, cut: () => ending.abort() }));
}

/** The address of the first server. A port that cannot be opened ends the process with 1. */
function openFirst(
  open: () => Deno.HttpServer<Deno.NetAddr>,
  { hostname, port, log, portVariable }: ServeOptions,
): Deno.NetAddr {
  try {
    return open().addr;
  } catch (error) {
    const isOfPort = error instanceof Deno.errors.AddrInUse ||
      error instanceof Deno.errors.PermissionDenied;
    const reason = error instanceof Deno.errors.AddrInUse
      ? "the port is in use"
      : (error as Error).message;
    log.error(
      `cannot listen on ${hostname}:${port}: ${reason}; see ${isOfPort ? portVariable : "HOST"}`,
    );
    Deno.exit(1);
  }
}

/** Counts what is running, and tells when nothing is. */
function createTally() {
  let running = 0;
  let idle: (() => void) | undefined;
  return {
    /** Returns the function that ends it. */
    begin() {
      running++;
      return () => {
        if (--running === 0) idle?.();
      };
    },
    /** Settles when nothing has been running for a moment: a request may be on its way. */
    async none(): Promise<void> {
      for (;;) {
        if (running > 0) await new Promise<void>((resolve) => idle = resolve);
        await new Promise((resolve) => setTimeout(resolve, ON_ITS_WAY_MS));
        if (running === 0) return;
      }
    },
  };
}

/** Time for requests that are on their way. */
const ON_ITS_WAY_MS = 250;

const NO_HOST = new AppError(
  400,
  "invalid_request",
  "cannot read the request: its Host header names no host, or several",
);

const HOST = /^([\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(:\d*)?$/i;

/**
 * Deno joins the Host header, unchecked, and the path to a URL: with `Host: a#b` it would be that of
 * another route. HTTP/1.0 needs none.
 */
function hasHost({ headers, url }: Request): boolean {
  const host = headers.get("host");
  return (host === null || HOST.test(host)) && URL.canParse(url);
}

function toConnection(
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  admission: Admission,
): { connection: Connection; close: () => void } {
  const callbacks: (() => void)[] = [];
  const close = () => callbacks.splice(0).forEach((callback) => callback());
  info.completed.then(close, close);
  const onClose = (callback: () => void) => void callbacks.push(callback);
  return { connection: { admission, address: info.remoteAddr.hostname, onClose }, close };
}
