import { currentRequest } from "./http/request_scope.ts";
import type { Logger } from "./log.ts";

/**
 * Logs a promise that nobody waited for when it failed, with the request that it was made for, and
 * lets the process go on: one request's fault is not the others'.
 */
export function surviveUnhandledRejections(log: Logger): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    const requestId = currentRequest()?.requestId;
    log.error("a failure that nobody waited for", {
      ...(requestId && { request_id: requestId }),
      error: event.reason instanceof Error ? event.reason : new Error(String(event.reason)),
    });
  });
}
