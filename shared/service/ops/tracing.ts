import {
  type Attributes,
  context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AppError, ClientLeft, isAbort } from "../errors.ts";
import { headerPairs } from "../../http/headers.ts";
import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Runs `work` for a request, as a part of the caller's trace, or of a new one if the request names
 * none: never of the one that happens to be active, which is another caller's.
 */
export function withRequestScope<T>(
  { headers }: Request,
  { requestId, work }: { requestId: string; work: () => T },
): T {
  const traceparent = readTraceparent(headers);
  const parent = headers.has("traceparent")
    ? propagation.extract(ROOT_CONTEXT, Object.fromEntries(headerPairs(headers)))
    : ROOT_CONTEXT;
  const scope = { requestId, traceparent };
  return runInScope(scope, () => context.with(parent, work));
}

/** The caller's `traceparent` if it is valid; all zeros are not. */
function readTraceparent(headers: Headers): string | undefined {
  const given = headers.get("traceparent")?.trim() ?? "";
  return /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/.test(given)
    ? given
    : undefined;
}

/** Spans go to Deno's OpenTelemetry if `OTEL_DENO=true`, and nowhere otherwise. */
const tracer = trace.getTracer("assay");

interface SpanOptions {
  name: string;
  kind?: SpanKind;
  attributes: Attributes;
}

/** Without OpenTelemetry spans are not even made: their bookkeeping is part of every run. */
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
const isTracing = isSpanContextValid(tracer.startSpan("first").spanContext());

/** Runs `work` within a span, which ends with it and records a failure. */
export function withSpan<T>(
  { name, ...options }: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (!isTracing) return work(NO_SPAN);
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * Only the message of an `AppError`: others may contain user data. Work whose caller has left is
 * marked so; it has not failed.
 */
export function failSpan(span: Span, error: unknown): void {
  if (isAbort(error) || error instanceof ClientLeft) {
    return void span.setAttribute("error.type", "left");
  }
  const isOurs = error instanceof AppError;
  span.setAttribute("error.type", isOurs ? error.code : "internal");
  span.setStatus({ code: SpanStatusCode.ERROR, ...(isOurs && { message: error.message }) });
}

/** A span that the caller ends, for work that is done in pieces. */
export function startSpan({ name, ...options }: SpanOptions): Span {
  return isTracing ? tracer.startSpan(name, options) : NO_SPAN;
}

/** The caller's `traceparent` for an HTTP request; Deno itself sends that of a traced one. */
export function callersTraceparent(): string | undefined {
  return activeSpan() ? undefined : currentRequest()?.traceparent;
}

/** The `traceparent` of the current span, or the caller's, for a message that is not a request. */
export function currentTraceparent(): string | undefined {
  const span = activeSpan();
  if (!span) return currentRequest()?.traceparent;
  const flags = span.traceFlags.toString(16).padStart(2, "0");
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

function activeSpan(): SpanContext | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  return span && isSpanContextValid(span) ? span : undefined;
}

/** What all code that runs for a request can read about it, without passing it on. */
interface RequestScope {
  readonly requestId: string;
  /** The caller's own trace (W3C Trace Context), passed on to the services that are called. */
  readonly traceparent?: string | undefined;
  /** Sent by a page of another origin, which `CORS_ORIGINS` allows; see `markForeign`. */
  isForeign?: boolean;
}

const scopes = new AsyncLocalStorage<RequestScope>();

function runInScope<T>(scope: RequestScope, work: () => T): T {
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
