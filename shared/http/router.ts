import { AppError, ClientLeft } from "../errors.ts";
import type { Logger } from "../log.ts";
import { type Connection, createLocalConnection, explainEnd } from "./connection.ts";
import { withRemoteTrace, withSpan } from "../ops/tracing.ts";
import { problemResponse } from "./problem.ts";
import { readTraceparent, withRequestScope } from "./request_scope.ts";
import { secureHeaders } from "./security_headers.ts";

/** What the router knows of a request beside the request itself. */
export interface RequestContext {
  readonly requestId: string;
  readonly url: URL;
  /** Values of the `:name` parts of the route's path. */
  readonly params: Readonly<Record<string, string>>;
  /** What the request's one log line says beside method, path, status and time. */
  readonly fields: Record<string, string | number | Error>;
  /** Puts that line off until an answer that is streamed has ended. */
  logAfter(end: Promise<unknown>): void;
  /** Set on the answer, whatever it will be. */
  readonly responseHeaders: Record<string, string>;
  readonly connection: Connection;
}

/** One answered request, for those who count. `route` is a key of the table, or `none`. */
export interface Answered {
  method: string;
  route: string;
  status: number;
  seconds: number;
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
  onAnswer?: (answered: Answered) => void;
}

/** Describes any error to the caller; only an `AppError` may speak for itself. */
export type ErrorResponse = (error: unknown, context: RequestContext) => Response;

/** A server's handler, callable in a test without a socket and so without a connection. */
export type Service = (request: Request, connection?: Connection) => Promise<Response>;

/** A request on its way through the router. */
interface Exchange extends RequestContext {
  ended?: Promise<unknown>;
}

interface Route {
  key: string;
  method: string;
  match: PathMatcher;
  handler: Handler;
}

/**
 * Routes `"METHOD /path/:param"` keys to handlers. Here is the one catch-all: a handler throws, and
 * the caller gets a problem document. `HEAD` is answered by the `GET` route.
 */
export function router(routes: Record<string, Handler>, options: RouterOptions): Service {
  const table = Object.entries(routes).map(([key, handler]) => parseRoute(key, handler));
  const { log, guards = [], preflight, responseHeaders, onAnswer } = options;
  const { errorResponse = (error, { requestId }) => problemResponse(error, requestId) } = options;

  async function answer(request: Request, context: RequestContext): Promise<Response> {
    try {
      if (request.method === "OPTIONS") {
        const response = preflight?.(request);
        if (response) return response;
      }
      for (const guard of guards) await guard(request, context);
      const { key, handler, params } = findRoute(table, request.method, context.url);
      context.fields.route = key;
      const attributes = { "http.route": key, "assay.request_id": context.requestId };
      return await withSpan(
        { name: key, attributes },
        async () => await handler(request, { ...context, params }),
      );
    } catch (thrown) {
      const error = explainEnd(thrown, context.connection);
      // Whatever came of it: nobody is there to be answered.
      if (request.signal.aborted || error instanceof ClientLeft) {
        context.fields.outcome = "client left";
        return new Response(null, { status: 499 });
      }
      if (!(error instanceof AppError) || error.status >= 500) noteFailure(error, context);
      return errorResponse(error, context);
    }
  }

  async function serve(request: Request, context: Exchange): Promise<Response> {
    const started = performance.now();
    const response = await answer(request, context);
    const headers = { ...context.responseHeaders, ...responseHeaders?.(request) };
    response.headers.set("x-request-id", context.requestId);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    secureHeaders(response.headers);
    const { method } = request;
    const { status } = response;
    const { fields, ended } = context;
    const route = String(fields.route ?? "none");
    onAnswer?.({ method, route, status, seconds: (performance.now() - started) / 1000 });
    const writeLine = () =>
      log[levelOf(fields.error)]("request", {
        method,
        path: context.url.pathname,
        status,
        ms: Math.round(performance.now() - started),
        request_id: context.requestId,
        ...fields,
      });
    if (ended && method !== "HEAD") ended.then(writeLine, writeLine);
    else writeLine();
    return response;
  }

  return async (request, connection) => {
    const local = createLocalConnection();
    const traceparent = readTraceparent(request);
    const context: Exchange = {
      requestId: readRequestId(request),
      url: new URL(request.url),
      params: {},
      fields: {},
      logAfter: (end) => void (context.ended = end),
      responseHeaders: {},
      connection: connection ?? local,
    };
    const scope = { requestId: context.requestId, ...(traceparent && { traceparent }) };
    try {
      return await withRequestScope(
        scope,
        () => withRemoteTrace(request.headers, () => serve(request, context)),
      );
    } finally {
      local.close();
    }
  };
}

/** Has a request's log line tell why it failed. */
export function noteFailure(error: unknown, { fields }: Pick<RequestContext, "fields">): void {
  fields.error = error instanceof Error ? error : new Error(String(error));
}

/** Someone should look into a failure of ours; one of a provider's is worth knowing of. */
function levelOf(error: unknown): "info" | "warn" | "error" {
  if (error === undefined) return "info";
  return error instanceof AppError ? "warn" : "error";
}

function parseRoute(key: string, handler: Handler): Route {
  const [method = "", pathname = ""] = key.split(" ");
  return { key, method, match: createPathMatcher(pathname), handler };
}

/** The values of a path's `:name` parts, or `undefined` where the path is another. */
type PathMatcher = (pathname: string) => Record<string, string> | undefined;

/** Most routes have no such parts, and comparing two strings costs none of a pattern's 0.1 ms. */
function createPathMatcher(path: string): PathMatcher {
  if (!path.includes(":")) return (pathname) => pathname === path ? {} : undefined;
  const pattern = new URLPattern({ pathname: path });
  return (pathname) => pattern.exec({ pathname })?.pathname.groups as Record<string, string>;
}

function findRoute(table: Route[], method: string, url: URL) {
  const allowed: string[] = [];
  for (const route of table) {
    const params = route.match(url.pathname);
    if (!params) continue;
    if (route.method === method || (method === "HEAD" && route.method === "GET")) {
      return { key: route.key, handler: route.handler, params };
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
