import { AppError, type ProviderWords } from "../service/errors.ts";
import { AnswerTooLarge } from "../http/outgoing_fetch.ts";
import type { ProviderFailure, Unreachable } from "./provider.ts";
import {
  asFields,
  asList,
  asText,
  defined,
  type Fields,
  isFields,
  parseFields,
  tryParseJson,
} from "../service/fields.ts";
import { shorten } from "../service/text.ts";

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

const MAX_MESSAGE = 2_000;
const MAX_FIELD = 200;
const MAX_GENERATION = 10_000;
/** Characters that are shown of an answer that is not a completion. */
const MAX_START = 200;
/** Characters that are read of such an answer: more than any error has, and longer than secrets. */
export const MAX_READ = 64 * 1024;

export type Redact = (text: string) => string;

/**
 * What the body of an error says, in any of the usual shapes: OpenAI's `{"error": {…}}`, Ollama's
 * `{"error": "…"}`, FastAPI's `{"detail": …}`, `{"message": …}`, Cloudflare's `{"errors": [{…}]}`,
 * Gemini's list of one error, or plain text. `undefined` if it says nothing, or is a page of HTML.
 */
export function readWords(body: string, redact: Redact): ProviderWords | undefined {
  const parsed = tryParseJson(body);
  const fields = findError(parsed);
  const isText = parsed === undefined && !/^\s*[<[{]/.test(body);
  const text = fields ? messageOf(fields) + upstreamOf(fields, redact) : isText ? body : "";
  const message = tidy(redact(text), MAX_MESSAGE);
  const { status, type = status, code, param } = fields ?? {};
  const field = (value: unknown) =>
    typeof value === "string" || typeof value === "number"
      ? tidy(redact(String(value)), MAX_FIELD) || null
      : null;
  const generation = asText(fields?.failed_generation);
  const inner = parseFields(redact(JSON.stringify(fields?.innererror ?? "")));
  const words = defined({
    message,
    type: field(type),
    code: field(code),
    param: field(param),
    failed_generation: generation ? shorten(redact(generation), MAX_GENERATION, "…") : undefined,
    innererror: inner,
  });
  return message || words.code || words.type ? words : undefined;
}

/** The first characters of an answer, on one line. */
export function startOf(body: string, redact: Redact): string {
  const read = body.length > MAX_READ ? dropCutWord(body.slice(0, MAX_READ)) : body;
  return tidy(redact(read).slice(0, 8 * MAX_START), MAX_START);
}

/** Drops the last word of a cut text before it is redacted: half a secret is not recognised. */
export function dropCutWord(text: string): string {
  // The look-behind keeps the search from starting again at each character of a long word.
  return text.replace(/(?<!\S)\S+$/, "…");
}

/** Without control characters and line breaks. Takes a redacted text: a cut could hide a secret. */
function tidy(redacted: string, max: number): string {
  // deno-lint-ignore no-control-regex -- a provider may send any byte
  const line = redacted.replace(/[\s\u0000-\u001f\u007f]+/g, " ").trim();
  return shorten(line, max, "…");
}

/** The object that describes the error; text becomes its `message`. */
function findError(value: unknown): Fields | undefined {
  if (Array.isArray(value)) return isFields(value[0]) ? findError(value[0]) : undefined;
  if (!isFields(value)) return undefined;
  if (typeof value.error === "string") return { ...value, message: value.error };
  if (isFields(value.error)) return value.error;
  const [first] = asList(value.errors);
  return isFields(first) ? first : value;
}

/** OpenRouter's message is "Provider returned error"; that provider's own is in `metadata.raw`. */
function upstreamOf({ metadata }: Fields, redact: Redact): string {
  const raw = asText(asFields(metadata).raw);
  const said = raw && readWords(raw, redact)?.message;
  return said ? `: ${said}` : "";
}

function messageOf({ message, detail, msg, status }: Fields): string {
  const said = [message, detail, msg].find((text) => text !== undefined && text !== null);
  if (said !== undefined) return typeof said === "string" ? said : JSON.stringify(said);
  return typeof status === "string" ? status : "";
}
