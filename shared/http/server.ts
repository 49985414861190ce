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
  /** Called when the port is really open, with the service's address. */
  onListen: (url: string) => void;
}

/** Serves until SIGTERM or SIGINT, lets what is running finish, then ends the process with 0. */
export function serve(options: ServeOptions): void {
  const { name, hostname, port, graceMs, service, log } = options;
  let isDraining = false;

  const server = listen(options, (request) => isDraining ? refuse() : service(request));
  options.onListen(
    `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${server.addr.port}`,
  );

  async function stop(): Promise<void> {
    if (isDraining) Deno.exit(0); // a second signal: someone is in a hurry
    isDraining = true;
    log.info(`${name} is stopping`, { grace_ms: graceMs });
    const timer = setTimeout(() => {
      log.warn(`${name} stopped with requests still running`);
      Deno.exit(0);
    }, graceMs);
    await server.shutdown();
    clearTimeout(timer);
    log.info(`${name} has stopped`);
    Deno.exit(0);
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, stop);

  function listen({ portVariable }: ServeOptions, handler: Deno.ServeHandler<Deno.NetAddr>) {
    try {
      return Deno.serve({ hostname, port, handler, onListen: () => {} });
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      log.error(`cannot listen on ${hostname}:${port}: the port is taken; set ${portVariable}`);
      Deno.exit(1);
    }
  }
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
