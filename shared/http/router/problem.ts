import { STATUS_TEXT } from "@std/http/status";
import { AppError, type FieldError, type ProviderWords } from "../../errors.ts";
import { secureHeaders } from "./headers.ts";

/** A problem document (RFC 9457). `detail` is also what clients of FastAPI services read. */
interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors?: FieldError[];
  /** What the provider said, if its error is the cause. */
  provider?: ProviderWords;
}

const INTERNAL = new AppError(500, "internal", "the service failed; its log has the request_id");

/** Describes any error to a caller. Only the message of an `AppError` is shown. */
export function toProblem(error: unknown, requestId: string): Problem {
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
