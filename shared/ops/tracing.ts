import {
  type Attributes,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AppError, ClientLeft, isAbort } from "../errors.ts";
import { currentRequest } from "../http/router/request_scope.ts";
import { headerPairs } from "../http/router/headers.ts";

/** Spans go to Deno's OpenTelemetry if `OTEL_DENO=true`, and nowhere otherwise. */
const tracer = trace.getTracer("assay");

interface SpanOptions {
  name: string;
  kind?: SpanKind;
  attributes: Attributes;
}

/** Runs `work` within a span, which ends with it and records a failure. */
export function withSpan<T>(
  { name, kind = SpanKind.INTERNAL, attributes }: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, { kind, attributes }, async (span) => {
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

/**
 * Runs `work` as a part of the caller's trace, or of a new one if the request names none: never of
 * the one that happens to be active, which is another caller's.
 */
export function withRemoteTrace<T>(headers: Headers, work: () => T): T {
  if (!headers.has("traceparent")) return context.with(ROOT_CONTEXT, work);
  const carrier = Object.fromEntries(headerPairs(headers));
  return context.with(propagation.extract(ROOT_CONTEXT, carrier), work);
}

/** A span that the caller ends, for work that is done in pieces. */
export function startSpan({ name, kind = SpanKind.INTERNAL, attributes }: SpanOptions): Span {
  return tracer.startSpan(name, { kind, attributes });
}

/**
 * The caller's `traceparent`, for a request to another service. If OpenTelemetry is enabled, Deno
 * sends one itself, with the current span as the parent; this is for the case that it is not.
 */
export function callersTraceparent(): string | undefined {
  const span = trace.getActiveSpan();
  const isTraced = span !== undefined && isSpanContextValid(span.spanContext());
  return isTraced ? undefined : currentRequest()?.traceparent;
}
