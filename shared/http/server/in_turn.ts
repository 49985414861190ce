import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

const HEAD_END = Buffer.from("\r\n\r\n");
/** The parser gets a body in pieces of this size; the last one may include what follows the body. */
const BODY_PIECE_BYTES = 4096;

interface Line {
  /** The request that was parsed last. */
  last?: IncomingMessage;
  isBusy: boolean;
  /** Requests that came in one piece with the end of a body. */
  waiting: (() => void)[];
  /** Gives the parser more bytes, if it may have them. */
  feed(): void;
}

/**
 * One request in progress per connection: the next is parsed when the answer before it is sent, and
 * what a client sends ahead stays in its socket. `node:http` alone parses everything that arrives and
 * keeps a request and an answer in memory for each: 20,000 in 840 kB stop a service for seconds.
 */
export function answerInTurn(listener: Listener): {
  listener: Listener;
  /** Call it for a new socket, when `node:http` has added its own listeners. */
  watch(socket: Socket): void;
} {
  const lines = new WeakMap<Socket, Line>();

  function receive(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const line = lines.get(incoming.socket);
    if (!line) return listener(incoming, outgoing); // Deno 2.6 does not emit "connection"
    line.last = incoming;
    if (line.isBusy) line.waiting.push(() => begin(line, incoming, outgoing));
    else begin(line, incoming, outgoing);
  }

  function begin(line: Line, incoming: IncomingMessage, outgoing: ServerResponse): void {
    line.isBusy = true;
    // Not at once: other clients get their turn between two requests of one client.
    outgoing.once("close", () => setImmediate(() => end(line)));
    listener(incoming, outgoing);
  }

  function end(line: Line): void {
    line.isBusy = false;
    line.waiting.shift()?.();
    line.feed();
  }

  function watch(socket: Socket): void {
    const [parse] = socket.listeners("data") as ((bytes: Buffer) => void)[];
    // Otherwise Deno's parser would read from the connection directly, and bypass `feed`.
    (socket as Socket & { parser: { unconsume(): void } }).parser.unconsume();
    let held: Buffer = Buffer.alloc(0);
    const line: Line = { isBusy: false, waiting: [], feed };
    lines.set(socket, line);

    function feed(): void {
      while (held.length > 0 && !socket.destroyed) {
        const isInBody = line.last?.complete === false;
        if (line.waiting.length > 0 || line.isBusy && !isInBody) return void socket.pause();
        const end = isInBody ? BODY_PIECE_BYTES : held.indexOf(HEAD_END) + HEAD_END.length;
        const piece = end < HEAD_END.length ? held : held.subarray(0, end);
        held = held.subarray(piece.length);
        parse!(piece);
      }
      socket.resume();
    }

    socket.off("data", parse!);
    socket.on("data", (bytes: Buffer) => {
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      feed();
    });
  }

  return { listener: receive, watch };
}

/**
 * Reads what is still coming of a body after its answer, for `timeoutMs` at most, and then closes
 * the connection. Deno's `node:http` stops its own timeout at the answer, so that a slow body would
 * hold the connection forever. If the client wants the connection closed after the answer, Deno would
 * close it at once, and a client that reads the answer only after it has sent everything (Python's
 * urllib) would see a broken pipe instead.
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
