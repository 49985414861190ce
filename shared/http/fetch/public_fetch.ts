import { lookup as systemLookup } from "node:dns";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { AppError } from "../../errors.ts";
import ipaddr from "ipaddr.js";

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

interface PublicFetchOptions {
  resolve?: Resolve;
  /** Which addresses may be reached. */
  isPublic?: (address: string) => boolean;
  /** How long an idle connection is kept. */
  idleMs?: number;
}

/** Connections of one host that are kept for the next calls. */
const KEPT_PER_HOST = 16;

/**
 * A `fetch` that reaches public addresses only. Names are looked up by the connection itself, and
 * the address that is checked is the one connected to: a name that changes its address between a
 * check and a `fetch` (DNS rebinding) gains nothing. It uses `node:http`, because Deno's own `fetch`
 * accepts no lookup function. The body must be a string or absent; redirects are handed back.
 */
export function createPublicFetch(
  { resolve = systemResolve, isPublic = isPublicAddress, idleMs = 15_000 }: PublicFetchOptions = {},
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
  // Callers and models choose the hosts, so idle connections are limited. Busy ones are limited
  // where the calls are made; a queue here would use up the time of a call.
  const kept = { keepAlive: true, timeout: idleMs, maxFreeSockets: KEPT_PER_HOST, lookup };
  const agents = { "http:": new http.Agent(kept), "https:": new https.Agent(kept) };

  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (isIpAddress(url.hostname) && !isPublic(url.hostname)) throw notPublic(url.origin);
    const protocol = url.protocol === "https:" ? "https:" : "http:";
    const headers = {
      ...Object.fromEntries(new Headers(init.headers)),
      "accept-encoding": "identity",
    };
    return await send({ url, headers, init, agent: agents[protocol], lookup });
  };
}

interface Sending {
  url: URL;
  headers: Record<string, string>;
  init: RequestInit;
  agent: http.Agent;
  lookup: LookupFunction;
}

function send({ url, headers, init, agent, lookup }: Sending): Promise<Response> {
  const { method = "GET", body, signal } = init;
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const call = request(url, { method, headers, agent, lookup });
    const leave = () => call.destroy();
    signal?.addEventListener("abort", leave, { once: true });
    call.on("close", () => signal?.removeEventListener("abort", leave));
    call.on("error", (error) => reject(signal?.aborted ? signal.reason : error));
    call.on("response", (message) => {
      // Thrown in an event handler, it would end the process instead of this call.
      try {
        resolve(toResponse(message));
      } catch (error) {
        message.destroy();
        reject(notHttp(error));
      }
    });
    // 101 was not asked for, and no other event would follow.
    call.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(notHttp());
    });
    call.end(typeof body === "string" ? body : undefined);
  });
}

function notHttp(cause?: unknown): SyntaxError {
  return new SyntaxError("the answer is not valid HTTP", { cause });
}

/** Statuses for which a `Response` accepts no body. */
const EMPTY_STATUSES = [204, 205, 304];

/** Throws if a `Response` cannot represent the answer: status 999, a header with a NUL. */
function toResponse(message: http.IncomingMessage): Response {
  const headers = new Headers();
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
  }
  const status = message.statusCode ?? 502;
  const isEmpty = EMPTY_STATUSES.includes(status);
  if (isEmpty) message.resume();
  return new Response(isEmpty ? null : Readable.toWeb(message) as ReadableStream, {
    status,
    headers,
  });
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
