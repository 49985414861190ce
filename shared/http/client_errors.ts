import type { Server } from "node:http";
import type { Socket } from "node:net";
import { AppError, type ErrorCode } from "../errors.ts";
import { toProblem } from "./problem.ts";

interface Refusal {
  status: number;
  code: ErrorCode;
  reason: string;
}

const TOO_SLOW: Refusal = { status: 408, code: "request_timeout", reason: "it came too slowly" };
const TOO_LONG: Refusal = { status: 431, code: "invalid_request", reason: "its head is too long" };
const BROKEN: Refusal = { status: 400, code: "invalid_request", reason: "it is not HTTP" };

/** Answers what never became a request as everything else is answered, and closes the connection. */
export function answerClientErrors(server: Server): void {
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy();
    socket.end(render(classify(error.code)), () => socket.destroy());
  });
}

function classify(code: string | undefined): Refusal {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return TOO_SLOW;
  return code === "HPE_HEADER_OVERFLOW" ? TOO_LONG : BROKEN;
}

function render({ status, code, reason }: Refusal): string {
  const id = crypto.randomUUID();
  const problem = toProblem(new AppError(status, code, `cannot read the request: ${reason}`), id);
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${status} ${problem.title}`,
    "content-type: application/problem+json",
    `content-length: ${new TextEncoder().encode(body).length}`,
    `x-request-id: ${id}`,
    "connection: close",
    "",
    body,
  ].join("\r\n");
}
