import { AsyncLocalStorage } from "node:async_hooks";

/** What everything done for one request can know of it, however deep, without being handed it. */
export interface RequestScope {
  readonly requestId: string;
  /** The caller's own trace (W3C Trace Context), to be passed on to whomever we ask. */
  readonly traceparent?: string;
}

const scopes = new AsyncLocalStorage<RequestScope>();

export function withRequestScope<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** The request that the running code works for; none in what a service does for itself. */
export function currentRequest(): RequestScope | undefined {
  return scopes.getStore();
}

/** The caller's `traceparent` where it is well formed, and not the all-zero one that is invalid. */
export function readTraceparent(request: Request): string | undefined {
  const given = request.headers.get("traceparent")?.trim() ?? "";
  return /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/.test(given)
    ? given
    : undefined;
}
