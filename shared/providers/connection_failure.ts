import type { ProviderFailure, Unreachable } from "./provider.ts";

/**
 * How errors say why a connection was never made: Deno's `fetch` in words, node's sockets by code.
 * The first that fits counts.
 */
const REASONS: [pattern: RegExp, why: Unreachable][] = [
  [/^ECONNREFUSED$|\bconnection refused\b/i, "refused"],
  [/^(ENOTFOUND|EAI_\w+)$|\bdns error\b/i, "dns"],
  [/^(EHOSTUNREACH|ENETUNREACH)$|\b(no route to host|network is unreachable)\b/i, "route"],
  [/\brequests to port \d+ are blocked\b/i, "blocked_port"],
  [/^CERT_HAS_EXPIRED$|\bcertificate\b.*\bexpired\b/i, "expired"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$|^HOSTNAME|\bnot valid for name\b/i, "other_name"],
  [/^(DEPTH_|SELF_SIGNED|UNABLE_TO|CERT_)|\binvalid peer certificate\b/i, "untrusted"],
  [/^(ERR_TLS|ERR_SSL|EPROTO)|\b(tls|handshake|corrupt message)\b/i, "tls"],
];

/** In the words of Deno's `fetch`: names, connections and TLS are all made in `Connect`. */
const NEVER_MADE = /client error \(Connect\)/;

const TIMED_OUT = /^ETIMEDOUT$|\btimed out\b/i;
const RESET = /^(ECONNRESET|EPIPE)$|\bconnection reset\b/i;

/**
 * Distinguishes an address that cannot be reached (unknown name, nobody listens, no TLS) from a
 * connection that broke, or took too long to make, after which the next one may work.
 */
export function diagnoseConnection(error: unknown): ProviderFailure {
  let isReset = false;
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? at.code : "";
    const isSocket = code !== "" || NEVER_MADE.test(at.message) || / are blocked$/.test(at.message);
    const why = isSocket &&
      REASONS.find(([reason]) => reason.test(code) || reason.test(at.message));
    isReset ||= RESET.test(code) || RESET.test(at.message);
    if (isSocket && !isReset && (TIMED_OUT.test(code) || TIMED_OUT.test(at.message))) {
      return { kind: "timeout" };
    }
    if (why && !isReset) return { kind: "unreachable", why: why[1] };
    if (NEVER_MADE.test(at.message) && !isReset) return { kind: "unreachable" };
  }
  return isReset ? { kind: "interrupted", why: "reset" } : { kind: "interrupted" };
}
