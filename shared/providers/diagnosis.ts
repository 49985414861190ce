import { AppError } from "../service/errors.ts";
import { AnswerTooLarge } from "../http/outgoing_fetch.ts";
import type { ProviderFailure, Unreachable } from "./provider.ts";

/** An answer that could not be used. */
export interface FailedAnswer {
  status: number;
  headers: Headers;
  /** As far as it was read. */
  body: string;
}

/** A failed call, read from whatever `fetch` threw or the provider answered. */
export interface Diagnosis {
  failure: ProviderFailure;
  /** The provider's answer, if there was one. */
  answer?: FailedAnswer;
  /** Another attempt would fail in the same way. */
  isFinal?: true;
  /** Further attempts have failed too. */
  isRetried?: boolean;
}

/** A failed call whose diagnosis is known. `toProviderError` makes a message of it. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";
  constructor(readonly diagnosis: Diagnosis) {
    super(diagnosis.failure.kind);
  }
}

/** Reads a failed call from whatever was thrown. */
export function diagnose(error: unknown): Diagnosis {
  if (error instanceof CallFailure) return error.diagnosis;
  if (error instanceof AnswerTooLarge) {
    return { failure: { kind: "unreadable", why: "too_large" }, isFinal: true };
  }
  // Thrown for bytes that are not in the declared encoding.
  if (error instanceof SyntaxError) return { failure: { kind: "unreadable" } };
  // Thrown for an address that is not allowed.
  if (error instanceof AppError) return { failure: { kind: "unreachable", why: "not_public" } };
  return { failure: diagnoseConnection(error) };
}

/**
 * How errors say why a connection was never made: Deno's `fetch` in words, node's sockets by code.
 * The first that fits counts.
 */
const REASONS: [pattern: RegExp, why: Unreachable][] = [
  [/^ECONNREFUSED$|\bconnection refused\b/i, "refused"],
  [/^(ENOTFOUND|EAI_\w+)$|\bdns error\b/i, "dns"],
  [/^(EHOSTUNREACH|ENETUNREACH)$|\b(no route to host|network is unreachable)\b/i, "route"],
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
 * Distinguishes an address that cannot be reached (unknown name, refused connection, no TLS) from a
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

/** How long a provider asks to wait, in milliseconds; 0 if that time has passed. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers.get("retry-after")?.trim() ?? "";
  const seconds = /^-?\d+(\.\d+)?(?=$|\s*,)/.exec(value)?.[0]; // a proxy may have added a second one
  const wait = seconds ? Number(seconds) * 1000 : Date.parse(value) - sentAt(headers);
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** When an answer was sent by the clock of its sender, which may differ from ours. */
function sentAt(headers: Headers): number {
  const moment = Date.parse(headers.get("date") ?? "");
  return Number.isFinite(moment) ? moment : Date.now();
}
