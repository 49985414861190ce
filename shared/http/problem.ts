import { STATUS_TEXT } from "@std/http/status";
import { AppError } from "../service/errors.ts";
import { secureHeaders } from "./headers.ts";

const INTERNAL = new AppError(500, "internal", "the service failed; its log has the request_id");

/**
 * Describes any error to a caller, as `ProblemDocument`. Only the message of an `AppError` is shown.
 * `detail` is also what clients of FastAPI services read.
 */
export function toProblem(error: unknown, requestId: string) {
  const known = error instanceof AppError ? error : INTERNAL;
  return {
    type: "about:blank",
    title: STATUS_TEXT[known.status] ?? "Error",
    status: known.status,
    detail: known.message,
    code: known.code,
    request_id: requestId,
    ...(known.errors && { errors: known.errors }),
    ...(known.provider && { provider: known.provider }),
  };
}

/** The same as a response, with the headers of the error. */
export function problemResponse(error: unknown, requestId: string): Response {
  const problem = toProblem(error, requestId);
  return Response.json(problem, {
    status: problem.status,
    headers: {
      ...(error instanceof AppError ? error.headers : {}),
      "content-type": "application/problem+json",
    },
  });
}

/** The answer to a request that never reaches the router, with the headers that the router adds. */
export function refuse(error: unknown): Response {
  const requestId = crypto.randomUUID();
  const response = problemResponse(error, requestId);
  response.headers.set("x-request-id", requestId);
  secureHeaders(response.headers);
  return response;
}
