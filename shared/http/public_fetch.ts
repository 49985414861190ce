import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { AppError } from "../service/errors.ts";
import { loadOnce } from "../service/waiting.ts";
import ipaddr from "ipaddr.js";
import type { Dispatcher } from "undici";

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** All addresses of a name. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/** As the operating system resolves names, its hosts file included. */
export const systemResolve: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses);
    });
  });

/** Throws 403 if any address of the URL's host is not public. A name without an address passes. */
export async function requirePublicHost(url: string, resolve: Resolve): Promise<void> {
  const { hostname, origin } = new URL(url);
  const addresses = isIpAddress(hostname)
    ? [{ address: hostname }]
    : await resolve(hostname).catch(() => []);
  if (addresses.every(({ address }) => isPublicAddress(address))) return;
  throw notPublic(origin);
}

/**
 * A `fetch` that reaches public addresses only. Names are looked up by the connection itself, and
 * the address that is checked is the one connected to: a name that changes its address between a
 * check and a `fetch` (DNS rebinding) gains nothing. Deno's own `fetch` accepts no lookup function,
 * and Deno's `node:http` (2.7.7) leaves connections and rejected promises behind. The body must be a
 * string or absent; redirects are handed back.
 */
export function createPublicFetch(
  { resolve = systemResolve, isPublic = isPublicAddress, idleMs = 15_000 }: {
    resolve?: Resolve;
    /** Which addresses may be reached. */
    isPublic?: (address: string) => boolean;
    /** How long an idle connection is kept. */
    idleMs?: number;
  } = {},
): typeof fetch {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname).then((addresses) => {
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => isPublic(address))) {
        return callback(notPublic(hostname), "", 0);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    }, (error) => callback(error, "", 0));
  };
  // Loaded on demand: most services never ask such an address.
  const agent = loadOnce(async () => {
    const { Agent } = await import("undici");
    return new Agent({
      connect: { lookup },
      keepAliveTimeout: idleMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  });

  return async (input, { method = "GET", headers, body, signal } = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (isIpAddress(url.hostname) && !isPublic(url.hostname)) throw notPublic(url.origin);
    signal?.throwIfAborted();
    const endless = new AbortController();
    let hints = 0;
    const answer = await (await agent()).request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers: { ...Object.fromEntries(new Headers(headers)), "accept-encoding": "identity" },
      body: typeof body === "string" ? body : null,
      signal: AbortSignal.any([endless.signal, ...signal ? [signal] : []]),
      onInfo: () => void (++hints > MOST_HINTS && endless.abort(notHttp())),
    }).catch((error) => {
      if (error.message === "bad upgrade") throw notHttp(error); // 101, for which nobody asked
      throw signal?.aborted ? signal.reason : error;
    });
    try {
      return toResponse(answer);
    } catch (error) { // the caller would not close it
      answer.body.on("error", () => {}).destroy();
      throw notHttp(error);
    }
  };
}

function notHttp(cause?: unknown): SyntaxError {
  return new SyntaxError("the answer is not valid HTTP", { cause });
}

/** Of `103 Early Hints` and their like before an answer. A model server sends none or one. */
const MOST_HINTS = 100;

/** Statuses for which a `Response` accepts no body. */
const EMPTY_STATUSES = [204, 205, 304];

/** Throws if a `Response` cannot represent the answer: status 999, a header with a NUL. */
function toResponse({ statusCode: status, headers, body }: Dispatcher.ResponseData): Response {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one])
  );
  const isEmpty = EMPTY_STATUSES.includes(status);
  if (isEmpty) body.resume();
  return new Response(isEmpty ? null : streamOf(body), {
    status,
    headers: pairs,
  });
}

/** `Readable.toWeb` of Deno 2.7.7 throws where nobody can catch it when the reader stops. */
function streamOf(body: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = body[Symbol.asyncIterator]();
  body.on("error", () => {}); // the reader gets it
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    cancel: () => void body.destroy(),
  }, { highWaterMark: 0 });
}

function notPublic(where: string): AppError {
  return new AppError(
    403,
    "endpoint_not_allowed",
    `cannot reach ${where}: its address is not public, and its origin is not explicitly allowed`,
  );
}

/** The only part of IPv6 that is given out as global unicast (RFC 4291, 2.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Where Azure gives a machine its settings and certificates; the address looks public, but is not. */
const AZURE_PLATFORM = "168.63.129.16";

/**
 * True for an IP address of the public internet. Private, loopback, link-local (where clouds keep their
 * metadata), shared, reserved and multicast ranges are not. Nor are IPv6 forms that carry an IPv4
 * address (IPv4-compatible, translated, NAT64, 6to4, Teredo), because a gateway decides where these
 * lead; only IPv4-mapped addresses count as the IPv4 address inside.
 */
export function isPublicAddress(address: string): boolean {
  const bare = canonical(address.replace(/^\[|\]$/g, "").replace(/%.*$/, ""));
  if (bare === undefined || !ipaddr.isValid(bare)) return false;
  const parsed = ipaddr.process(bare);
  if (parsed.range() !== "unicast" || parsed.toString() === AZURE_PLATFORM) return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST);
}

/** In hexadecimal: the library treats `::10.0.0.1` as an IPv4-mapped address, which it is not. */
function canonical(address: string): string | undefined {
  if (!address.includes(":")) return address;
  return URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
}

/** True for the hostname of a URL that is an address already, in brackets or not. */
function isIpAddress(hostname: string): boolean {
  return ipaddr.isValid(hostname.replace(/^\[|\]$/g, ""));
}
