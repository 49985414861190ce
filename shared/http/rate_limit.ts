import ipaddr from "ipaddr.js";
import type * as limiters from "rate-limiter-flexible";
// Imported file by file: the whole package loads a store for every database.
import memoryClass from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import resultClass from "rate-limiter-flexible/lib/RateLimiterRes.js";
import { AppError } from "../service/errors.ts";
import type { Connection } from "./connection.ts";
import { plainAddress } from "./guards.ts";
import type { Guard } from "./router.ts";

const RateLimiterMemory: typeof limiters.RateLimiterMemory = memoryClass;
const RateLimiterRes: typeof limiters.RateLimiterRes = resultClass;

/** A number of requests in a number of seconds. */
export interface Rate {
  requests: number;
  seconds: number;
}

/** Counts requests: in this process, or for several in a database. */
export type RateLimiter = Pick<limiters.RateLimiterAbstract, "consume">;

/** Counts in this process. */
export function createMemoryLimiter({ requests, seconds }: Rate): limiters.RateLimiterMemory {
  return new RateLimiterMemory({ points: requests, duration: seconds });
}

/**
 * Counts a caller's requests, by the name of its key, else by address. It must run before the guard
 * that refuses callers without a key, so that guessing keys is limited too. The answer's
 * headers are those of draft-ietf-httpapi-ratelimit-headers.
 */
export function createRateLimit(
  { rate, trustedProxies, limiter = createMemoryLimiter(rate) }: {
    rate: Rate;
    trustedProxies: string[];
    /** `createMemoryLimiter` if unset. */
    limiter?: RateLimiter | undefined;
  },
): Guard {
  const policy = `"default";q=${rate.requests};w=${rate.seconds}`;

  return async (request, context) => {
    if (context.route?.limited === false) return;
    const { connection, fields } = context;
    const caller = fields.caller === undefined
      ? `address ${networkOf(callerAddress(request, { connection, trustedProxies }))}`
      : `key ${fields.caller}`;
    const { state, isOver } = await count(limiter, caller);
    // After the clock was set back, a window would seem to last longer than it does.
    const resetSeconds = Math.min(Math.ceil(state.msBeforeNext / 1000), rate.seconds);
    Object.assign(context.responseHeaders, {
      "ratelimit-policy": policy,
      ratelimit: `"default";r=${state.remainingPoints};t=${resetSeconds}`,
    });
    if (!isOver) return;
    const wait = Math.max(1, resetSeconds);
    throw new AppError(
      429,
      "rate_limited",
      `too many requests: over ${rate.requests} in ${rate.seconds} s (RATE_LIMIT); retry in ${wait} s`,
      { headers: { "retry-after": String(wait) } },
    );
  };
}

async function count(limiter: RateLimiter, caller: string) {
  try {
    return { state: await limiter.consume(caller), isOver: false };
  } catch (state) {
    if (!(state instanceof RateLimiterRes)) throw state;
    return { state, isOver: true };
  }
}

/**
 * The address of the caller. Behind a trusted proxy it is the last address in `x-forwarded-for` that
 * is not a trusted proxy itself; the ones before it can be forged.
 */
function callerAddress(
  request: Request,
  { connection, trustedProxies }: { connection: Connection; trustedProxies: string[] },
): string {
  const isTrusted = (address: string) => trustedProxies.includes(address);
  const direct = plainAddress(connection.address);
  if (!isTrusted(direct)) return direct;
  const forwarded = request.headers.get("x-forwarded-for") ?? "";
  const hops = forwarded.split(",").map(forwardedAddress).filter(Boolean);
  return hops.findLast((hop) => !isTrusted(hop)) ?? direct;
}

/** One entry of `x-forwarded-for` as an address: some proxies write the caller's port behind it. */
function forwardedAddress(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry.trim()) ?? [];
  return plainAddress(bracketed ?? plain ?? entry.trim());
}

/** An IPv6 address counts as its /64: one customer has all 2^64 addresses of it. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`).toString();
}
