import type { Server } from "node:http";
import type { Socket } from "node:net";
import { AppError, type ErrorCode } from "../errors.ts";
import { toProblem } from "./problem.ts";

const cannotRead = (status: number, code: ErrorCode, reason: string) =>
  new AppError(status, code, `cannot read the request: ${reason}`);

const TOO_SLOW = cannotRead(408, "request_timeout", "it came too slowly");
const TOO_LONG = cannotRead(431, "invalid_request", "its head is too long");
const BROKEN = cannotRead(400, "invalid_request", "it is not HTTP");

/** Answers what never became a request as everything else is answered, and closes the connection. */
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

/** A problem document as it goes over a connection that is closed after it. */
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
