import { ProviderError, type ProviderFailure } from "./provider.ts";

/** What was tried, for the message. Without a `model` it was the list of models. */
export interface Attempt {
  provider: string;
  model?: string;
}

/** A failed call, read from whatever the SDK or `fetch` threw. */
export interface Diagnosis {
  failure: ProviderFailure;
  /** The headers of the provider's answer, if there was one. */
  headers?: Headers;
  /** Another attempt would fail in the same way. */
  isFinal?: true;
}

/** The error of a failed call. The provider's own text stays in `cause`, for the log. */
export function toProviderError(
  attempt: Attempt,
  { failure, headers }: Diagnosis,
  cause?: unknown,
): ProviderError {
  const { status, code, reason } = explain(attempt, failure);
  const asked = code === "rate_limited" && headers ? retryAfterMs(headers) : undefined;
  const wait = asked === undefined ? undefined : Math.max(1, Math.ceil(asked / 1000));
  const advice = wait === undefined ? "" : `; retry after ${wait} s`;
  return new ProviderError(status, code, `${describe(attempt)}: ${reason}${advice}`, failure, {
    cause,
    headers: wait === undefined ? {} : { "retry-after": String(wait) },
  });
}

/** The error for an answer that is not a completion. */
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
      return {
        status: 504,
        code: "provider_timeout",
        reason: "it did not answer in time",
      } as const;
    case "unreachable":
      return { status: 502, code: "provider_error", reason: "the connection failed" } as const;
    case "interrupted":
      return {
        status: 502,
        code: "provider_error",
        reason: "the connection was closed before the answer was complete",
      } as const;
    case "unreadable":
      return { status: 502, code: "provider_error", reason: "its answer is unreadable" } as const;
  }
}

function explainStatus({ model }: Attempt, status: number) {
  if (status === 401 || status === 403) {
    const reason = `it rejects the configured credentials (${status})`;
    return { status: 502, code: "provider_auth", reason } as const;
  }
  if (status === 404 && model !== undefined) {
    return { status: 404, code: "model_not_found", reason: "it does not know the model" } as const;
  }
  if (status === 429) {
    const reason = "rate limited by the provider (429)";
    return { status: 429, code: "rate_limited", reason } as const;
  }
  if (status === 408) {
    return { status: 504, code: "provider_timeout", reason: "it did not answer in time" } as const;
  }
  return { status: 502, code: "provider_error", reason: `it answered status ${status}` } as const;
}

/** How long a provider asks to wait, in milliseconds; 0 if that time has passed. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers.get("retry-after")?.trim() ?? "";
  const wait = /^-?\d+(\.\d+)?$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
