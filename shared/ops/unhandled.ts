import { currentRequest } from "../http/router/request_scope.ts";
import type { Logger } from "../log.ts";

/**
 * Logs unhandled promise rejections, with the request that they belong to, and keeps the process
 * running: a failure of one request must not end the others.
 */
export function surviveUnhandledRejections(log: Logger): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    const requestId = currentRequest()?.requestId;
    log.error("unhandled promise rejection", {
      ...(requestId && { request_id: requestId }),
      error: event.reason instanceof Error ? event.reason : new Error(String(event.reason)),
    });
  });
}
