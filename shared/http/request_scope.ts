import { AsyncLocalStorage } from "node:async_hooks";

/** What all code that runs for a request can read about it, without passing it on. */
interface RequestScope {
  readonly requestId: string;
  /** The caller's own trace (W3C Trace Context), passed on to the services that are called. */
  readonly traceparent?: string;
  /** Sent by a page of another origin, which `CORS_ORIGINS` allows; see `markForeign`. */
  isForeign?: boolean;
}

const scopes = new AsyncLocalStorage<RequestScope>();

export function runInScope<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** The request that the running code works for; `undefined` in background work. */
export function currentRequest(): RequestScope | undefined {
  return scopes.getStore();
}

/** Called by the guard of origins. */
export function markForeign(): void {
  const scope = scopes.getStore();
  if (scope) scope.isForeign = true;
}
