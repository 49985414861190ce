import { AppError } from "../errors.ts";
import { problemResponse } from "./problem.ts";
import { secureHeaders } from "./security_headers.ts";

/** An answer to a request that is not even looked at. */
export function refuse(error: unknown): Response {
  const requestId = crypto.randomUUID();
  const response = problemResponse(error, requestId);
  response.headers.set("x-request-id", requestId);
  secureHeaders(response.headers);
  return response;
}

/** For a `Host` or a path of which no URL can be made: there is nothing to route by. */
export function unreadable(): AppError {
  return new AppError(
    400,
    "invalid_request",
    "cannot read the request: its Host is missing, or it makes no URL with its path",
  );
}

/** RFC 9112, 3.2: two names of one host may be two hosts to those who stand between. */
export function twoHosts(): AppError {
  return new AppError(400, "invalid_request", "cannot read the request: it has two Host headers");
}

/** For connections that were open before the stop; new ones find nobody listening. */
export function shuttingDown(): AppError {
  return new AppError(503, "shutting_down", "cannot take requests: the service is stopping", {
    headers: { connection: "close", "retry-after": "5" },
  });
}
