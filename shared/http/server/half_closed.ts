import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** After the first, in milliseconds. The last one is repeated until the answer begins. */
const PROBE_DELAYS_MS = [25, 50, 200, 1000, 5000];

const INTERIM_RESPONSE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Lets the server answer clients that close their sending side after the request. */
export function allowHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true; // Node's own name
}

/**
 * Distinguishes a client that has closed its sending side from one that has left: both send the same TCP
 * segment. An interim response is written; the system of a client that has left answers it with a
 * reset, and the next write fails, which closes the socket. Clients skip interim responses. If none
 * may be sent, because the answer has begun or the client speaks HTTP/1.0, the client has left.
 */
export function watchHalfClosed(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { socket } = incoming;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let probes = 0;

  function begin(): void {
    if (outgoing.headersSent || incoming.httpVersion === "1.0") socket.destroy();
    else probe();
  }

  function probe(): void {
    if (outgoing.headersSent || outgoing.destroyed) return;
    if (outgoing.socket) socket.write(INTERIM_RESPONSE); // none: an earlier answer is being sent
    const delay = PROBE_DELAYS_MS[Math.min(probes++, PROBE_DELAYS_MS.length - 1)];
    timer = setTimeout(probe, delay);
  }

  socket.once("end", begin);
  outgoing.once("close", () => {
    clearTimeout(timer);
    socket.off("end", begin);
  });
  if (socket.readableEnded) begin();
}
