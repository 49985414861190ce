import ipaddr from "ipaddr.js";
import { isAbort } from "../errors.ts";
import { type Admission, shuttingDown } from "./admission.ts";

/** The way a request came. */
export interface Connection {
  /** The other end's IP address: a caller, or a proxy in front of us. */
  readonly address: string;
  /** Calls back once, when the answer has been sent whole or its receiver is gone. */
  onClose(callback: () => void): void;
  /** Of the server that took the request; absent if there is none, as in a test. */
  readonly admission?: Admission;
  /** Aborted when the service stops and the time to finish is over; the client is still there. */
  readonly ending?: AbortSignal;
}

/**
 * Ends the work for a request that is not worth finishing without its caller: aborted when the
 * client leaves and when the service ends.
 */
export function workSignal(request: Request, { ending }: Connection): AbortSignal {
  return ending ? AbortSignal.any([request.signal, ending]) : request.signal;
}

/** An abort that came from the end of the service, as the caller is told of it; else the error. */
export function explainEnd(error: unknown, { ending }: Connection): unknown {
  return ending?.aborted && isAbort(error) ? shuttingDown() : error;
}

/** A request's connection where there is no socket: it closes when the answer is made. */
export interface LocalConnection extends Connection {
  close(): void;
}

export function createLocalConnection(): LocalConnection {
  const callbacks: (() => void)[] = [];
  return {
    address: "127.0.0.1",
    onClose: (callback) => void callbacks.push(callback),
    close: () => callbacks.splice(0).forEach((callback) => callback()),
  };
}

/**
 * Who is at the other end. Behind a proxy that is what the proxy says in `x-forwarded-for`: the last
 * address there that is not a trusted proxy's own. What stands before it anyone can write.
 */
export function callerAddress(
  request: Request,
  { connection, trustedProxies }: { connection: Connection; trustedProxies: string[] },
): string {
  const isTrusted = (address: string) => trustedProxies.includes(address);
  const direct = plainAddress(connection.address);
  if (!isTrusted(direct)) return direct;
  const forwarded = request.headers.get("x-forwarded-for") ?? "";
  const hops = forwarded.split(",").map((hop) => plainAddress(hop.trim())).filter(Boolean);
  return hops.findLast((hop) => !isTrusted(hop)) ?? direct;
}

/** `::ffff:10.0.0.1`, as sockets that speak both families have it, is `10.0.0.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** One customer's share of IPv6 is a /64: whoever has one has 2^64 addresses to come from. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`).toString();
}
