import { z } from "zod";
import { AppError, ClientLeft, notFound } from "../service/errors.ts";
import { requireKnownParameters } from "../service/field_errors.ts";
import type { Logger } from "../service/log.ts";
import type { RouteDescription } from "../service/ops/api_description.ts";
import { withRequestScope, withSpan } from "../service/ops/tracing.ts";
import { type Connection, createLocalConnection, explainEnd } from "./connection.ts";
import { problemResponse } from "./answer.ts";
import { secureHeaders } from "./headers.ts";

/** What the router knows about a request. */
export interface RequestContext {
  readonly requestId: string;
  readonly url: URL;
  /** The route that will answer; missing if there is none for this path and method. */
  readonly route?: Route | undefined;
  /** Values of the `:name` parts of the route's path; `rest` is the value of a final `*`. */
  readonly params: Readonly<Record<string, string>>;
  /** Further fields of the request's one log line, which has method, path, status and time. */
  readonly fields: Record<string, string | number | Error>;
  /** Delays that line until a streamed answer has ended. */
  logAfter(end: Promise<unknown>): void;
  /** Set on the answer, also on an error. */
  readonly responseHeaders: Record<string, string>;
  readonly connection: Connection;
}

/** One answered request, for the metrics. `route` is `GET /runs/:id`, or `none`. */
export interface Answered {
  method: string;
  route: string;
  status: number;
  seconds: number;
}

export type Handler = (request: Request, context: RequestContext) => Response | Promise<Response>;

/** One route of a service: how it is described, who may call it, and what answers. */
export interface Route extends RouteDescription {
  handler: Handler;
  /** `false`: callers without a key are answered too. A function decides per request. */
  needsKey?: false | ((request: Request) => boolean);
  /** `false`: requests count neither in the rate limit nor in the limit of running requests. */
  limited?: false;
  /**
   * `false`: links, images and forms of other sites are refused, which CORS does not cover. For
   * routes with side effects.
   */
  otherSites?: false;
}

/** Checks a request before its handler is called; throws an `AppError` to refuse it. */
export type Guard = (request: Request, context: RequestContext) => void | Promise<void>;

export interface RouterOptions {
  log: Logger;
  guards?: Guard[];
  /** Answers `OPTIONS` requests; `undefined` leaves one to the routes. */
  preflight?: (request: Request) => Response | undefined;
  /** How an error is answered; a problem document unless given. */
  errorResponse?: ErrorResponse | undefined;
  /** Added to every answer, also to errors. */
  responseHeaders?: (request: Request) => Record<string, string>;
  onAnswer?: ((answered: Answered) => void) | undefined;
}

/** Describes any error to the caller; only the message of an `AppError` may be shown. */
export type ErrorResponse = (error: unknown, context: RequestContext) => Response;

/** A server's handler, callable in a test without a socket and so without a connection. */
export type Service = (request: Request, connection?: Connection) => Promise<Response>;

/** A request on its way through the router. */
interface Exchange extends RequestContext {
  ended?: Promise<unknown>;
}

/**
 * Answers each request with the handler of its route. This is the one catch-all: if a handler
 * throws, the caller gets a problem document. `HEAD` is answered by the `GET` route.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { silentLogger } from "../service/log.ts";
 *
 * const service = router([{
 *   method: "GET",
 *   path: "/runs/:id",
 *   summary: "One run",
 *   answers: { 200: { description: "The run" } },
 *   handler: (_request, { params }) => Response.json({ id: params.id }),
 * }], { log: silentLogger });
 * const response = await service(new Request("http://localhost/runs/7"));
 * assertEquals(await response.json(), { id: "7" });
 * assertEquals((await service(new Request("http://localhost/other"))).status, 404);
 * ```
 */
export function router(routes: readonly Route[], options: RouterOptions): Service {
  const find = createRouteTable(routes);
  const { log, guards = [], preflight, responseHeaders, onAnswer } = options;
  const { errorResponse = (error, { requestId }) => problemResponse(error, requestId) } = options;

  async function answer(request: Request, exchange: RequestContext): Promise<Response> {
    const match = find(request.method, exchange.url.pathname);
    const { route, params } = match;
    const context: RequestContext = { ...exchange, params, route };
    try {
      if (request.method === "OPTIONS") {
        const response = preflight?.(request);
        if (response) return response;
      }
      for (const guard of guards) await guard(request, context);
      if (!route) throw noRoute(request.method, { ...match, url: context.url, routes });
      const name = `${route.method} ${route.path}`;
      context.fields.route = name;
      const query = route.params?.query;
      if (query instanceof z.ZodObject && !query.def.catchall) {
        requireKnownParameters(context.url, Object.keys(query.shape));
      }
      const attributes = { "http.route": name, "assay.request_id": context.requestId };
      return await withSpan(
        { name, attributes },
        async () => await route.handler(request, context),
      );
    } catch (thrown) {
      const error = explainEnd(thrown, context.connection);
      // The caller has left and receives no answer.
      if (request.signal.aborted || error instanceof ClientLeft) {
        context.fields.outcome = "client left";
        return new Response(null, { status: 499 });
      }
      if (error instanceof AppError) context.fields.code = error.code;
      if (!(error instanceof AppError) || error.status >= 500) noteFailure(error, context);
      return errorResponse(error, context);
    }
  }

  async function serve(request: Request, context: Exchange): Promise<Response> {
    const started = performance.now();
    const response = await answer(request, context);
    const headers = { ...context.responseHeaders, ...responseHeaders?.(request) };
    response.headers.set("x-request-id", context.requestId);
    for (const [name, value] of Object.entries(headers)) {
      if (name === "vary") response.headers.append(name, value); // the route may vary too
      else response.headers.set(name, value);
    }
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
    const context: Exchange = {
      requestId: readRequestId(request),
      url: new URL(request.url),
      params: {},
      fields: {},
      logAfter: (end) => void (context.ended = end),
      responseHeaders: {},
      connection: connection ?? local,
    };
    try {
      const { requestId } = context;
      return await withRequestScope(request, { requestId, work: () => serve(request, context) });
    } finally {
      local.close();
    }
  };
}

/** Adds the reason of a failure to the request's log line. */
export function noteFailure(
  error: unknown,
  { fields }: { fields: RequestContext["fields"] },
): void {
  fields.error = error instanceof Error ? error : new Error(String(error));
}

/** `error` for a failure of the service itself, `warn` for one of a provider or a limit. */
function levelOf(error: unknown): "info" | "warn" | "error" {
  if (error === undefined) return "info";
  return error instanceof AppError ? "warn" : "error";
}

function noRoute(
  method: string,
  { allowed, url, routes }: { allowed: string[]; url: URL; routes: readonly Route[] },
): AppError {
  if (allowed.length === 0) {
    const similar = similarPaths(url.pathname, routes).join(" or ");
    const hint = similar && `; did you mean ${similar}?`;
    const reason = `there is no such route${hint}`;
    return notFound(`cannot find ${url.pathname}: ${reason}`);
  }
  const methods = allowed.flatMap((method) => method === "GET" ? [method, "HEAD"] : method);
  const allow = [...new Set(methods)].join(", ");
  return new AppError(
    405,
    "method_not_allowed",
    `cannot ${method} ${url.pathname}: it allows ${allow}`,
    { headers: { allow } },
  );
}

/**
 * The paths that differ from the one asked for only at its start, or by a slash at its end. Clients
 * are easily configured with a base URL without `/v1`, or with one too many.
 */
function similarPaths(pathname: string, routes: readonly Route[]): string[] {
  const asked = pathname.replace(/\/$/, "");
  const paths = routes.map(({ path }) => path).filter((path) =>
    path !== "/" && !/[:*]/.test(path) && asked && (path.endsWith(asked) || asked.endsWith(path))
  );
  return [...new Set(paths)];
}

/** The caller's own id if it is short and printable, because it is logged; else a new one. */
function readRequestId(request: Request): string {
  const given = request.headers.get("x-request-id") ?? "";
  return /^[\w.:-]{1,128}$/.test(given) ? given : crypto.randomUUID();
}

interface RouteMatch {
  /** Missing if no route has this path and method. */
  route?: Route;
  /** Values of the `:name` parts as they were sent, and of a final `*`, whose name is `rest`. */
  params: Record<string, string>;
  /** The methods that the path has, if none of them is the one asked for. */
  allowed: string[];
}

/**
 * Finds the route of a request. A path without parameters goes before one with them, and a prefix
 * (`/assets/*`) comes last, so that the order of the table does not matter. `HEAD` finds the route
 * of `GET`. Throws if two routes have the same method and path.
 */
function createRouteTable(
  routes: readonly Route[],
): (method: string, pathname: string) => RouteMatch {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const key = `${method} ${path}`;
    if (seen.has(key)) throw new Error(`two routes are ${key}`);
    seen.add(key);
  }
  const table = routes.map((route) => ({ route, read: createPathReader(route.path) }))
    .sort((a, b) => rankOf(a.route) - rankOf(b.route));

  return (method, pathname) => {
    const wanted = method === "HEAD" ? "GET" : method;
    const allowed: string[] = [];
    for (const { route, read } of table) {
      const params = read(pathname);
      if (!params) continue;
      if (route.method === wanted) return { route, params, allowed };
      allowed.push(route.method);
    }
    return { params: {}, allowed };
  };
}

function rankOf({ path }: Route): number {
  if (/\/\*\w*$/.test(path)) return 2;
  return path.includes("/:") ? 1 : 0;
}

/** The parameters of a path; `undefined` if it is another path. */
type PathReader = (pathname: string) => Record<string, string> | undefined;

/** By a regular expression: `URLPattern` takes some twenty times as long for the same answer. */
function createPathReader(path: string): PathReader {
  const names: string[] = [];
  const source = path.split("/").map((part, index, parts) => {
    if (part.startsWith(":")) {
      names.push(part.slice(1));
      return "([^/]+)";
    }
    if (/^\*\w*$/.test(part) && index === parts.length - 1) {
      names.push(part.slice(1) || "rest");
      return "(.+)";
    }
    if (/[:*]/.test(part)) throw new Error(`cannot route ${path}: "${part}" is not supported`);
    return part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&");
  });
  const pattern = new RegExp(`^${source.join("/")}$`);
  return (pathname) => {
    const found = pattern.exec(pathname);
    if (!found) return undefined;
    const params: Record<string, string> = {};
    for (const [index, name] of names.entries()) params[name] = found[index + 1]!;
    return params;
  };
}
