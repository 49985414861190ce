import { AppError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { problemResponse } from "./problem.ts";

/** What the router knows of a request beside the request itself. */
export interface RequestContext {
  readonly requestId: string;
  readonly url: URL;
  /** Values of the `:name` parts of the route's path. */
  readonly params: Readonly<Record<string, string>>;
  /** What the request's one log line says beside method, path, status and time. */
  readonly fields: Record<string, string | number>;
}

export type Handler = (request: Request, context: RequestContext) => Response | Promise<Response>;

/** Looks at a request before it is routed; throws an `AppError` to refuse it. */
export type Guard = (request: Request, context: RequestContext) => void | Promise<void>;

export interface RouterOptions {
  log: Logger;
  guards?: Guard[];
  /** Answers an `OPTIONS` request that no route wants. */
  preflight?: (request: Request) => Response | undefined;
  /** How an error is answered; a problem document unless given. */
  errorResponse?: ErrorResponse;
  /** Added to every answer, also to errors. */
  responseHeaders?: (request: Request) => Record<string, string>;
}

/** Describes any error to the caller; only an `AppError` may speak for itself. */
export type ErrorResponse = (error: unknown, context: RequestContext) => Response;

/** `Deno.serve`'s handler, callable in a test without a socket. */
export type Service = (request: Request) => Promise<Response>;

interface Route {
  method: string;
  pattern: URLPattern;
  handler: Handler;
}

/**
 * Routes `"METHOD /path/:param"` keys to handlers. Here is the one catch-all: a handler throws, and
 * the caller gets a problem document. `HEAD` is answered by the `GET` route.
 */
export function router(routes: Record<string, Handler>, options: RouterOptions): Service {
  const table = Object.entries(routes).map(([key, handler]) => parseRoute(key, handler));
  const { log, guards = [], preflight, responseHeaders } = options;
  const { errorResponse = (error, { requestId }) => problemResponse(error, requestId) } = options;

  async function answer(request: Request, context: RequestContext): Promise<Response> {
    try {
      if (request.method === "OPTIONS") {
        const response = preflight?.(request);
        if (response) return response;
      }
      for (const guard of guards) await guard(request, context);
      const { handler, params } = findRoute(table, request.method, context.url);
      return await handler(request, { ...context, params });
    } catch (error) {
      if (request.signal.aborted) { // whatever came of it: nobody is there to be answered
        context.fields.outcome = "client left";
        return new Response(null, { status: 499 });
      }
      if (!(error instanceof AppError)) {
        log.error("request failed", { request_id: context.requestId, error });
      } else if (error.status >= 500) {
        context.fields.error = error.message;
      }
      return errorResponse(error, context);
    }
  }

  return async (request) => {
    const started = performance.now();
    const context: RequestContext = {
      requestId: readRequestId(request),
      url: new URL(request.url),
      params: {},
      fields: {},
    };
    const response = await answer(request, context);
    response.headers.set("x-request-id", context.requestId);
    for (const [name, value] of Object.entries(responseHeaders?.(request) ?? {})) {
      response.headers.set(name, value);
    }
    log.info("request", {
      method: request.method,
      path: context.url.pathname,
      status: response.status,
      ms: Math.round(performance.now() - started),
      request_id: context.requestId,
      ...context.fields,
    });
    return response;
  };
}

function parseRoute(key: string, handler: Handler): Route {
  const [method = "", pathname = ""] = key.split(" ");
  return { method, pattern: new URLPattern({ pathname }), handler };
}

function findRoute(table: Route[], method: string, url: URL) {
  const allowed: string[] = [];
  for (const route of table) {
    const match = route.pattern.exec({ pathname: url.pathname });
    if (!match) continue;
    if (route.method === method || (method === "HEAD" && route.method === "GET")) {
      const params = match.pathname.groups as Record<string, string>;
      return { handler: route.handler, params };
    }
    allowed.push(route.method);
  }
  if (allowed.length === 0) {
    throw new AppError(404, "not_found", `cannot find ${url.pathname}: there is no such route`);
  }
  throw new AppError(405, "method_not_allowed", `cannot ${method} ${url.pathname}`, {
    headers: { allow: allowed.join(", ") },
  });
}

/** The caller's own id where it is short and printable: it ends up in our log. */
function readRequestId(request: Request): string {
  const given = request.headers.get("x-request-id") ?? "";
  return /^[\w.:-]{1,128}$/.test(given) ? given : crypto.randomUUID();
}
