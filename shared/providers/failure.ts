import type { ProviderWords } from "../service/errors.ts";
import {
  diagnoseConnection,
  type Diagnosis,
  type FailedAnswer,
  readWords,
  type Redact,
  retryAfterMs,
  startOf,
} from "./diagnosis.ts";
import { ProviderError, type Unreachable } from "./provider.ts";
import { MAX_ANSWER_MB } from "../http/outgoing_fetch.ts";

/** What was tried, for the message. Without a `model` it was the list of models. */
export interface Attempt {
  provider: string;
  model?: string;
  /** The beginning of the message, if it was neither a reply nor a list of models. */
  what?: string;
  /** Removes the configured secrets from what the provider said. */
  redact?: Redact;
  /** The credential that the provider gets. */
  credential?: {
    isSet: boolean;
    /** Where it is configured, as the reader of a message needs it: `HUB_API_KEY`. */
    variable: string;
  } | undefined;
}

/** Statuses that are about the caller's request, and not about how this service sends it. */
const REFUSALS = [400, 402, 403, 413, 422, 451];

/** A 403 about the credential, and not about the request. */
const ABOUT_KEY =
  /\b(api.?key|auth|(un)?authori[sz]\w*|authenticat\w*|credentials?|tokens?|permissions?|forbidden)\b/i;

/**
 * The error of a failed call. A refusal of the request keeps the provider's status and words, so
 * that callers can act on it (`context_length_exceeded`).
 */
export function toProviderError(
  attempt: Attempt,
  diagnosis: Diagnosis,
  cause?: unknown,
): ProviderError {
  const { failure, answer, isRetried } = diagnosis;
  const words = answer && readWords(answer.body, attempt.redact ?? String);
  const { status, code, reason, isOpen = true } = explain(attempt, diagnosis, words);
  const asked = code === "rate_limited" && answer ? retryAfterMs(answer.headers) : undefined;
  const wait = asked === undefined ? undefined : Math.max(1, Math.ceil(asked / 1000));
  const said = isOpen && words?.message ? `: ${words.message}` : "";
  const advice = wait === undefined ? "" : `; retry after ${wait} s`;
  return new ProviderError(
    status,
    code,
    `${describe(attempt)}: ${reason}${said}${advice}`,
    failure,
    {
      cause,
      headers: {
        ...(wait !== undefined && { "retry-after": String(wait) }),
        // OpenAI's clients and assay-eval obey it. Their retries would multiply with ours, repeat a
        // wrong key, or pay again for a reply that cannot be read.
        ...((isRetried || mayBePaid(attempt, diagnosis) || code === "provider_auth") &&
          { "x-should-retry": "false" }),
      },
      ...(isOpen && words && { provider: words }),
    },
  );
}

/** An unreadable reply of a model, unless it is a page: that is of a gateway. */
function mayBePaid({ model }: Attempt, { isFinal, answer }: Diagnosis): boolean {
  return isFinal === true && model !== undefined && !/^\s*</.test(answer?.body ?? "");
}

function describe({ provider, model, what }: Attempt): string {
  if (what !== undefined) return what;
  return model === undefined
    ? `cannot list the models of ${provider}`
    : `cannot get a reply from ${provider} for model "${model}"`;
}

interface Explanation {
  status: number;
  code: ProviderError["code"];
  reason: string;
  /** False if the provider's words are not for callers: they may quote a part of the key. */
  isOpen?: boolean;
}

const bad = (reason: string): Explanation => ({ status: 502, code: "provider_error", reason });
const LATE: Explanation = {
  status: 504,
  code: "provider_timeout",
  reason: "it did not answer in time",
};

function explain(
  attempt: Attempt,
  { failure, answer }: Diagnosis,
  words: ProviderWords | undefined,
): Explanation {
  switch (failure.kind) {
    case "status":
      return explainRedirect(attempt, answer) ?? explainStatus(attempt, failure.status, words);
    case "timeout":
      return LATE;
    case "unreachable":
      return bad(failure.why ? UNREACHABLE[failure.why] : "the connection failed");
    case "interrupted":
      return bad(
        failure.why === "reset"
          ? "the connection was reset"
          : "the connection was closed before the answer was complete",
      );
    case "unreadable":
      if (failure.why === "too_large") return bad(`its answer is over ${MAX_ANSWER_MB} MB`);
      if (failure.shape) return bad(`its answer is unreadable: ${failure.shape}`);
      return { ...bad(explainUnreadable(attempt, answer)), isOpen: false };
  }
}

/** Why a connection failed or broke, from what `fetch` threw; in words for people. */
export function explainConnection(error: unknown): string {
  return explain({ provider: "" }, { failure: diagnoseConnection(error) }, undefined).reason;
}

const UNREACHABLE: Record<Unreachable, string> = {
  refused: "the connection was refused; nothing listens at its address",
  dns: "its host name cannot be resolved (DNS)",
  not_public: "its address is not public, and its origin is not explicitly allowed",
  route: "there is no route to its address",
  untrusted:
    "its TLS certificate is self-signed or of an unknown CA; set DENO_CERT to the CA's file",
  expired: "its TLS certificate has expired",
  other_name: "its TLS certificate is for another host name",
  tls: "the TLS handshake failed",
};

/** Signs of a model's reply. Its text does not help to find the fault and may be private. */
const QUOTES = /"(choices|content|delta|text)"\s*:/;

/** Describes the answer, to show what kind of server is at the address. */
function explainUnreadable(
  { redact = String }: Attempt,
  answer: FailedAnswer | undefined,
): string {
  if (!answer) return "its answer is unreadable";
  const type = startOf(answer.headers.get("content-type") ?? "no content type", redact);
  const start = startOf(answer.body, redact);
  const packed = answer.headers.get("content-encoding"); // one that is not known here
  const shown = packed
    ? `packed as ${JSON.stringify(startOf(packed, redact))}`
    : QUOTES.test(answer.body)
    ? "not shown: it may quote the conversation"
    : start
    ? `begins with ${JSON.stringify(start)}`
    : "empty";
  return `its answer is unreadable (status ${answer.status}, ${type}, ${shown})`;
}

/** A redirect that is not followed: names where it leads, without what may be secret in it. */
function explainRedirect(
  { redact = String }: Attempt,
  answer: FailedAnswer | undefined,
): Explanation | undefined {
  if (!answer || answer.status < 300 || answer.status > 399) return undefined;
  const location = answer.headers.get("location") ?? "";
  if (/^\/(?!\/)/.test(location)) { // within the origin, where redirects are followed
    return bad(`it redirects in a circle (${answer.status}); check its address`);
  }
  const to = URL.parse(location)?.origin;
  if (!to || to === "null") return undefined;
  const reason = `it redirects to ${startOf(to, redact)} (${answer.status}), ` +
    "which is not followed; if that is its address, use it";
  return { ...bad(reason), isOpen: false };
}

function explainStatus(
  attempt: Attempt,
  status: number,
  words: ProviderWords | undefined,
): Explanation {
  if (status === 401 || status === 403 && isAboutKey(words)) {
    const reason = explainAuth(attempt, status);
    return { status: 502, code: "provider_auth", reason, isOpen: false };
  }
  if (REFUSALS.includes(status)) {
    return { status, code: "provider_refused", reason: `refused by the provider (${status})` };
  }
  if (status === 404 && attempt.model !== undefined) {
    return { status: 404, code: "model_not_found", reason: "it does not know the model" };
  }
  if (status === 429) {
    return { status, code: "rate_limited", reason: "rate limited by the provider (429)" };
  }
  return status === 408 ? LATE : bad(`it answered status ${status}`);
}

/** Without words, or with words about a key. */
function isAboutKey(words: ProviderWords | undefined): boolean {
  if (!words) return true;
  return ABOUT_KEY.test([words.message, words.code, words.type].join(" ").replaceAll("_", " "));
}

function explainAuth({ credential }: Attempt, status: number): string {
  if (!credential) return `it rejects the configured credentials (${status})`;
  const { isSet, variable } = credential;
  return isSet
    ? `it rejects the configured credentials (${status}); check ${variable}`
    : `it requires a credential (${status}), and none is configured; set ${variable}`;
}
