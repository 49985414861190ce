import { ProviderError, type ProviderFailure } from "./provider.ts";

/** What was tried, for the message. Without a `model` it was the list of models. */
export interface Attempt {
  provider: string;
  model?: string;
}

/** A failed call, read from whatever the SDK or `fetch` threw. */
export interface Diagnosis {
  failure: ProviderFailure;
  /** The provider's answer headers, where it gave an answer. */
  headers?: Headers;
  /** Another attempt would go the same way, and cost as much. */
  isFinal?: true;
}

/** A failed call in our words. The vendor's own stay in `cause`, for the log. */
export function toProviderError(
  attempt: Attempt,
  { failure, headers }: Diagnosis,
  cause?: unknown,
): ProviderError {
  const { status, code, reason } = explain(attempt, failure);
  const wait = code === "rate_limited" && headers ? retryAfterMs(headers) : undefined;
  return new ProviderError(status, code, `${describe(attempt)}: ${reason}`, failure, {
    cause,
    headers: wait === undefined
      ? {}
      : { "retry-after": String(Math.max(1, Math.ceil(wait / 1000))) },
  });
}

/** An answer that came, but is none. */
export function unreadable(attempt: Attempt): ProviderError {
  return toProviderError(attempt, { failure: { kind: "unreadable" } });
}

function describe({ provider, model }: Attempt): string {
  return model === undefined
    ? `cannot list the models of ${provider}`
    : `cannot get a reply from ${provider} for model "${model}"`;
}

function explain(attempt: Attempt, failure: ProviderFailure) {
  switch (failure.kind) {
    case "status":
      return explainStatus(attempt, failure.status);
    case "timeout":
      return { status: 504, code: "provider_timeout", reason: "it took too long" } as const;
    case "unreachable":
      return { status: 502, code: "provider_error", reason: "the connection failed" } as const;
    case "interrupted":
      return { status: 502, code: "provider_error", reason: "the connection broke off" } as const;
    case "unreadable":
      return { status: 502, code: "provider_error", reason: "its answer is unreadable" } as const;
  }
}

function explainStatus({ model }: Attempt, status: number) {
  if (status === 401 || status === 403) {
    const reason = `it refuses our credentials (status ${status})`;
    return { status: 502, code: "provider_auth", reason } as const;
  }
  if (status === 404 && model !== undefined) {
    return { status: 404, code: "model_not_found", reason: "it does not know the model" } as const;
  }
  if (status === 429) {
    return { status: 429, code: "rate_limited", reason: "it takes no more for now" } as const;
  }
  if (status === 408) {
    return { status: 504, code: "provider_timeout", reason: "it took too long" } as const;
  }
  return { status: 502, code: "provider_error", reason: `it answered status ${status}` } as const;
}

/** How long a provider asks to be left alone, in milliseconds; 0 where the moment has passed. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers.get("retry-after")?.trim() ?? "";
  const wait = /^-?\d+(\.\d+)?$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
