import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Closes the connection of a client that is still sending a body `timeoutMs` after its answer. Deno's
 * `node:http` stops its own timeout at the answer, so that a slow body would hold the connection
 * forever.
 */
export function closeUnreadBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  timeoutMs: number,
): void {
  outgoing.once("close", () => {
    const { socket } = incoming;
    if (incoming.complete || socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    const forget = () => clearTimeout(timer);
    incoming.once("end", forget);
    socket.once("close", forget);
    incoming.resume();
  });
}
