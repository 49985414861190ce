import { isSpanContextValid, trace } from "@opentelemetry/api";
import { currentRequest } from "../http/router/request_scope.ts";

/**
 * A `fetch` that passes the caller's `traceparent` on. If OpenTelemetry is enabled, Deno does that
 * itself, with the current span as the parent. This is for the case that it is not, so that the trace
 * of the caller continues in the services that are called.
 */
export function createTracedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const traceparent = currentRequest()?.traceparent;
    if (!traceparent || isTraced()) return fetch(input, init);
    const headers = new Headers(init?.headers);
    headers.set("traceparent", traceparent);
    return fetch(input, { ...init, headers });
  };
}

function isTraced(): boolean {
  const span = trace.getActiveSpan();
  return span !== undefined && isSpanContextValid(span.spanContext());
}
