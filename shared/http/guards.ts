import { AppError } from "../service/errors.ts";
import { markForeign } from "../service/ops/tracing.ts";
import type { Guard, RequestContext } from "./router.ts";
import { createHash, timingSafeEqual } from "node:crypto";

/** The name of a header (RFC 9110, `token`). */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Cross-origin rules for one list of origins; `http://localhost:*` means any port. Unlisted origins
 * are refused, so that no other page can use the keys of this service. The service's own pages are
 * allowed without being listed.
 */
export function createOriginPolicy(
  origins: string[],
  { trustedProxies = [] }: { trustedProxies?: string[] } = {},
) {
  const patterns = origins.map(toPattern);
  const isAllowed = (origin: string) => patterns.some((pattern) => pattern.test(origin));

  function responseHeaders(request: Request): Record<string, string> {
    const origin = request.headers.get("origin");
    if (origin === null || !isAllowed(origin)) return { vary: "origin" };
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "*",
      vary: "origin",
    };
  }

  return {
    responseHeaders,
    guard(request: Request, context: RequestContext): void {
      const origin = request.headers.get("origin");
      if (origin === null) return requireOwnSite(request, context);
      if (origin.toLowerCase() === ownOrigin(request, { ...context, trustedProxies })) return;
      if (isAllowed(origin)) return markForeign();
      throw new AppError(
        403,
        "forbidden_origin",
        "the origin of this page is not listed in CORS_ORIGINS",
      );
    },
    preflight(request: Request): Response | undefined {
      const origin = request.headers.get("origin");
      if (origin === null || !isAllowed(origin)) return undefined;
      if (!request.headers.has("access-control-request-method")) return undefined;
      return new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
          ...allowHeaders(request),
          "access-control-max-age": "600",
        },
      });
    },
  };
}

/**
 * Links, images and forms of another page send no `Origin`, but browsers say in `sec-fetch-site` how
 * the two sites are related. Programs and the address bar are allowed.
 */
function requireOwnSite({ headers }: Request, { route }: RequestContext): void {
  if (route?.otherSites !== false) return;
  if (!["cross-site", "same-site"].includes(headers.get("sec-fetch-site") ?? "")) return;
  throw new AppError(
    403,
    "forbidden_origin",
    "a page of another site asked for this without CORS: it must use fetch, and its origin must be " +
      "listed in CORS_ORIGINS",
  );
}

/**
 * All headers that the page asks for: clients add their own (OpenAI's about ten `x-stainless-…`), and
 * a listed origin may do the same whatever headers it sends.
 */
function allowHeaders(request: Request): Record<string, string> {
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const names = asked.split(",").map((name) => name.trim()).filter((name) =>
    HEADER_NAME.test(name)
  );
  return names.length > 0 ? { "access-control-allow-headers": names.join(", ") } : {};
}

/**
 * The origin under which the caller knows this service. A trusted proxy names it in
 * `x-forwarded-proto` and `x-forwarded-host`; of several values, the last one is that proxy's own.
 */
function ownOrigin(
  { headers }: Request,
  { url, connection, trustedProxies }: RequestContext & { trustedProxies: string[] },
): string {
  if (!trustedProxies.includes(plainAddress(connection.address))) return url.origin;
  const forwarded = (name: string) => headers.get(name)?.split(",").at(-1)?.trim().toLowerCase();
  const scheme = forwarded("x-forwarded-proto") ?? url.protocol.slice(0, -1);
  const host = forwarded("x-forwarded-host") ?? url.host;
  const port = `:${IMPLIED_PORTS[scheme]}`; // some proxies write the port behind every host
  return `${scheme}://${host.endsWith(port) ? host.slice(0, -port.length) : host}`;
}

function toPattern(origin: string): RegExp {
  if (origin === "*") return /^/;
  const escaped = origin.replace(/\/$/, "").replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  const source = escaped.replace(/:\*$/, "(:\\d+)?").replaceAll("*", "[^/:]+");
  return new RegExp(`^${source}$`, "i");
}

/** Ports that browsers leave out of an origin. */
const IMPLIED_PORTS: Record<string, string> = { http: "80", https: "443" };

/**
 * Why an entry of `CORS_ORIGINS` matches no origin that a browser sends; `undefined` if it can. An
 * origin is `scheme://host`, or with a port that is not the scheme's own; `*` may stand for a port or
 * a part of the host.
 */
export function explainDeadOrigin(entry: string): string | undefined {
  if (entry === "*" || entry === "null") return undefined; // `null` is the origin of a local file
  const [, scheme = "", host = "", port = "", rest = ""] =
    /^([a-z][a-z\d+.-]*):\/\/(\[[\da-f:.]+\]|[^/:@?#\s]+)(?::(\d+|\*))?(.*)$/i.exec(entry) ?? [];
  if (host === "") return "write it with its scheme, like https://app.example.com";
  if (rest !== "" && rest !== "/") return "an origin has no path: end it after the host or port";
  if (IMPLIED_PORTS[scheme.toLowerCase()] === port) return `browsers leave out port ${port}`;
  // deno-lint-ignore no-control-regex -- everything that is not ASCII
  if (/[^\x00-\x7f]/.test(host)) return "browsers send the name in ASCII (xn--…)";
}

/** True for the names and addresses by which only this machine can be reached. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** `::ffff:10.0.0.1`, as sockets that speak both families have it, is `10.0.0.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/**
 * Against DNS rebinding: a page whose name was pointed at 127.0.0.1 reaches a loopback service, but
 * its requests still carry the page's own name in `Host`.
 */
export const requireLoopbackHost: Guard = (_request, context) => {
  if (isLoopback(context.url.hostname)) return;
  throw new AppError(
    403,
    "forbidden_host",
    "the Host header is not a loopback name: this service listens on loopback only",
  );
};

/** Names the caller whose key a request carries, as a bearer token or as `x-api-key`. */
export function identifyCaller(keys: CallerKey[]): Guard {
  const known = keys.map(({ name, key }) => ({ name, digest: digest(key) }));
  return (request, context) => {
    const given = readApiKey(request);
    if (given === undefined) return;
    const name = findName(known, digest(given));
    if (name !== undefined) context.fields.caller = name;
  };
}

/** Refuses a caller that was not identified, unless the route needs no key. */
export const requireCaller: Guard = (request, { fields, route }) => {
  if (fields.caller !== undefined || route?.needsKey === false) return;
  if (typeof route?.needsKey === "function" && !route.needsKey(request)) return;
  throw new AppError(
    401,
    "unauthorized",
    "the API key is missing or invalid: send it as authorization: Bearer … or as x-api-key",
    { headers: { "www-authenticate": "Bearer" } },
  );
};

/** The key that a request carries, whether it is a valid one or not. */
export function readApiKey(request: Request): string | undefined {
  const bearer = /^Bearer\s+(.+)$/i.exec(request.headers.get("authorization") ?? "");
  return bearer?.[1]?.trim() ?? request.headers.get("x-api-key")?.trim();
}

/** All digests have one length, so that a comparison does not reveal the length of a key. */
function digest(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

/** Compares with every key, also after a match: the time must not reveal which one it was. */
function findName(
  known: { name: string; digest: Uint8Array }[],
  given: Uint8Array,
): string | undefined {
  let found: string | undefined;
  for (const { name, digest } of known) if (timingSafeEqual(digest, given)) found ??= name;
  return found;
}

/** A key that callers may send, and the name by which logs and limits know its holder. */
export interface CallerKey {
  name: string;
  key: string;
}

/**
 * Reads `name:key` and plain `key` items; a plain one is named `key-<position>`. Several keys may
 * share a name, so that a key can be replaced without an interruption.
 */
export function parseCallerKeys(items: string[]): CallerKey[] {
  return items.map((item, index) => {
    const [, name, key] = /^([A-Za-z][\w.-]{0,63}):(.+)$/.exec(item) ?? [];
    return name && key ? { name, key } : { name: `key-${index + 1}`, key: item };
  });
}
