import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

/**
 * Reads what is still coming of a body after its answer, for `timeoutMs` at most, and then closes
 * the connection. Deno's `node:http` stops its own timeout at the answer, so that a slow body would
 * hold the connection forever. If the client wants the connection closed after the answer, it would
 * be cut at once, and a client that reads the answer after it has sent all (Python's urllib) would
 * see a broken pipe instead.
 */
export function closeUnreadBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  timeoutMs: number,
): void {
  const { socket } = incoming;
  let isLast = false;
  socket.destroySoon = () => { // called after the last answer of the connection
    if (incoming.complete) return Socket.prototype.destroySoon.call(socket);
    isLast = true;
    socket.end();
  };
  outgoing.once("close", () => {
    if (incoming.complete || socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    incoming.once("end", () => {
      clearTimeout(timer);
      if (isLast) socket.destroy();
    });
    socket.once("close", () => clearTimeout(timer));
    incoming.removeAllListeners("data"); // of a reader that has stopped, and would pause it again
    incoming.resume();
  });
}
