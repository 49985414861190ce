import { isSpanContextValid, trace } from "@opentelemetry/api";
import { currentRequest } from "../http/request_scope.ts";

/**
 * A `fetch` that passes the caller's `traceparent` on. Where OpenTelemetry is switched on Deno does
 * that itself, with the span under way as the parent; this is for where it is off, so that a trace
 * that others keep is not cut in two here.
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
