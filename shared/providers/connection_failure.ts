import type { ProviderFailure } from "./provider.ts";

/** What node's sockets call it when a connection was never made. */
const NEVER_MADE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME)/;

/** The same in the words of Deno's `fetch`; names, connections and TLS are all made in `Connect`. */
const NEVER_MADE_WORDS = /client error \(Connect\)|Requests to port \d+ are blocked/;

/**
 * Distinguishes an address that cannot be reached (unknown name, nobody listens, no TLS) from a
 * connection that broke later, after which the next one may work.
 */
export function diagnoseConnection(error: unknown): ProviderFailure {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? at.code : "";
    if (NEVER_MADE.test(code) || NEVER_MADE_WORDS.test(at.message)) return { kind: "unreachable" };
  }
  return { kind: "interrupted" };
}
