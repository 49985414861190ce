import type { Server } from "node:http";
import type { Socket } from "node:net";
import { AppError, type ErrorCode } from "../../errors.ts";
import { toProblem } from "../router/problem.ts";

const cannotRead = (status: number, code: ErrorCode, reason: string) =>
  new AppError(status, code, `cannot read the request: ${reason}`);

const TOO_SLOW = cannotRead(408, "request_timeout", "it arrived too slowly");
const TOO_LONG = cannotRead(431, "invalid_request", "its header section is too long");
const BROKEN = cannotRead(400, "invalid_request", "it is not HTTP");

/** There is no URL to route by. */
export const NO_URL = cannotRead(
  400,
  "invalid_request",
  "its Host header is missing, or makes no valid URL with its path",
);

/** RFC 9112, 3.2: a proxy in front may have used the other one. */
export const TWO_HOSTS = cannotRead(400, "invalid_request", "it has two Host headers");

/** Answers bytes that are no valid request with a problem document, and closes the connection. */
export function answerClientErrors(server: Server): void {
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy();
    socket.end(renderProblem(classify(error.code)), () => socket.destroy());
  });
}

function classify(code: string | undefined): AppError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return TOO_SLOW;
  return code === "HPE_HEADER_OVERFLOW" ? TOO_LONG : BROKEN;
}

/** A whole HTTP answer with a problem document, for a connection that is closed after it. */
export function renderProblem(error: AppError): string {
  const id = crypto.randomUUID();
  const problem = toProblem(error, id);
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${error.status} ${problem.title}`,
    "content-type: application/problem+json",
    `content-length: ${new TextEncoder().encode(body).length}`,
    `x-request-id: ${id}`,
    ...Object.entries(error.headers).map(([name, value]) => `${name}: ${value}`),
    "connection: close",
    "",
    body,
  ].join("\r\n");
}
