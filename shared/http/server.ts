import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { AppError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { problemResponse } from "./problem.ts";
import type { Service } from "./router.ts";

export interface ServeOptions {
  /** Names the service in its own log lines. */
  name: string;
  /** Named in the message when the port is taken. */
  portVariable: string;
  hostname: string;
  port: number;
  /** How long running requests may take to finish once the service is told to stop. */
  graceMs: number;
  service: Service;
  log: Logger;
  /** Ends what the service does beside answering requests, while the last of these are answered. */
  stop?: () => Promise<void>;
  /** Closes what the service holds, after the last answer. */
  close?: () => Promise<void>;
  /** Called when the port is really open, with the service's address. */
  onListen: (url: string) => void;
}

/**
 * Serves until SIGTERM or SIGINT, lets what is running finish, then ends the process with 0.
 *
 * On `node:http`, not `Deno.serve`: there (2.9.5) `request.signal` stays silent when the client of a
 * request with more than some 500 bytes leaves, and a run that nobody waits for would go on.
 */
export function serve(options: ServeOptions): void {
  const { name, hostname, port, graceMs, service, log } = options;
  let isDraining = false;

  const server = createServer(
    getRequestListener((request) => isDraining ? refuse() : service(request), {
      overrideGlobalObjects: false,
    }),
  );
  server.on("error", (error: Error & { code?: string }) => {
    const reason = error.code === "EADDRINUSE" ? "the port is taken" : error.message;
    log.error(`cannot listen on ${hostname}:${port}: ${reason}; see ${options.portVariable}`);
    Deno.exit(1);
  });
  server.listen(port, hostname, () => options.onListen(addressOf(server)));

  async function stop(): Promise<void> {
    if (isDraining) Deno.exit(0); // a second signal: someone is in a hurry
    isDraining = true;
    log.info(`${name} is stopping`, { grace_ms: graceMs });
    const timer = setTimeout(() => {
      log.warn(`${name} stopped with requests still running`);
      Deno.exit(0);
    }, graceMs);
    await Promise.all([close(server), options.stop?.()]);
    await options.close?.();
    clearTimeout(timer);
    log.info(`${name} has stopped`);
    Deno.exit(0);
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, stop);
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

/** For connections that were open before the stop; new ones find nobody listening. */
function refuse(): Response {
  const error = new AppError(
    503,
    "shutting_down",
    "cannot take requests: the service is stopping",
    {
      headers: { connection: "close", "retry-after": "5" },
    },
  );
  const requestId = crypto.randomUUID();
  const response = problemResponse(error, requestId);
  response.headers.set("x-request-id", requestId);
  return response;
}
