import { Buffer } from "node:buffer";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** An answer that a test writes itself, with the socket below it, to reset or cut it. */
export interface RawAnswer {
  readonly socket: Socket;
  writeHead(status: number, headers?: Record<string, string>): RawAnswer;
  write(piece: string | Uint8Array, done?: () => void): void;
  end(piece?: string | Uint8Array): void;
}

export interface RawServer extends AsyncDisposable {
  readonly origin: string;
  /** Requests that came in. */
  readonly count: number;
  /** Requests that have neither been answered nor given up by their client. */
  readonly underWay: number;
  readonly openSockets: number;
}

/** HTTP/1.1 over plain sockets: the sockets of Deno's `node:http` cannot be reset or destroyed. */
export async function startRawServer(
  answer: (request: { url: string; body: string }, response: RawAnswer) => void,
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  let underWay = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    let waiting = Buffer.alloc(0);
    let isAnswering = false;
    const ended = () => {
      if (isAnswering) underWay--;
      isAnswering = false;
    };
    socket.on("close", () => {
      sockets.delete(socket);
      ended();
    });
    socket.on("error", () => {}); // the client left during a fault
    socket.on("data", (bytes: Buffer) => {
      waiting = Buffer.concat([waiting, bytes]);
      if (!/^[A-Z]/.test(waiting.toString("latin1", 0, 1))) socket.destroy(); // TLS, for example
      const request = readRequest(waiting);
      if (!request) return;
      waiting = waiting.subarray(request.length);
      count++;
      underWay++;
      isAnswering = true;
      answer(request, answerOn(socket, ended));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return count;
    },
    get underWay() {
      return underWay;
    },
    get openSockets() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The request at the start of `bytes`, once it is complete. */
function readRequest(bytes: Buffer): { url: string; body: string; length: number } | undefined {
  const head = bytes.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const text = bytes.subarray(0, head).toString("latin1");
  const [, url = ""] = text.split(" ", 2);
  const start = head + 4;
  if (/^transfer-encoding: *chunked/im.test(text)) {
    const pieces: Buffer[] = [];
    for (let at = start;;) {
      const line = bytes.indexOf("\r\n", at);
      if (line < 0) return undefined;
      const size = parseInt(bytes.subarray(at, line).toString("latin1"), 16);
      const next = line + 2 + size + 2;
      if (bytes.length < next) return undefined;
      if (size === 0) return { url, body: Buffer.concat(pieces).toString(), length: next };
      pieces.push(bytes.subarray(line + 2, next - 2));
      at = next;
    }
  }
  const length = start + Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
  if (bytes.length < length) return undefined;
  return { url, body: bytes.subarray(start, length).toString(), length };
}

function answerOn(socket: Socket, ended: () => void): RawAnswer {
  let isChunked = true;
  const response: RawAnswer = {
    socket,
    writeHead(status, headers = {}) {
      isChunked = !("content-length" in headers);
      const fields = { ...headers, ...(isChunked && { "transfer-encoding": "chunked" }) };
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`);
      return response;
    },
    write(piece, done) {
      if (socket.destroyed) return;
      const bytes = Buffer.from(piece as string);
      if (!isChunked) return void socket.write(bytes, done);
      const frame = [`${bytes.length.toString(16)}\r\n`, bytes, "\r\n"];
      socket.write(Buffer.concat(frame.map((part) => Buffer.from(part as string))), done);
    },
    end(piece = "") {
      if (piece.length > 0) response.write(piece);
      if (isChunked && !socket.destroyed) socket.write("0\r\n\r\n");
      ended();
    },
  };
  return response;
}
