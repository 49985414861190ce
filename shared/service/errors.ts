import type { Fields } from "./fields.ts";

/** The stable names that callers may branch on; docs/errors.md explains each. */
export type ErrorCode =
  | "invalid_json"
  | "invalid_request"
  | "missing_model_id"
  | "invalid_model_id"
  | "unauthorized"
  | "endpoint_not_allowed"
  | "forbidden_origin"
  | "forbidden_host"
  | "not_found"
  | "method_not_allowed"
  | "model_not_found"
  | "request_timeout"
  | "body_too_large"
  | "unsupported_media_type"
  | "conflict"
  | "idempotency_key_reused"
  | "rate_limited"
  | "provider_error"
  | "provider_refused"
  | "provider_auth"
  | "provider_timeout"
  | "provider_not_configured"
  | "empty_reply"
  | "unsupported_parameter"
  | "shutting_down"
  | "overloaded"
  | "storage_full"
  | "storage_busy"
  | "storage_unavailable"
  | "internal";

/** One field of a body that fails its schema. `path` is dotted: `test_batch.interactions.0.id`. */
export interface FieldError {
  path: string;
  message: string;
}

/**
 * A provider's own description of an error, in OpenAI's fields. It is bounded and contains no
 * configured secret. Fields that the provider left out are `null`.
 */
export interface ProviderWords {
  message: string;
  type: string | null;
  code: string | null;
  param: string | null;
  /** Of Groq: what the model wrote instead of a valid tool call or JSON. */
  failed_generation?: string;
  /** Of Azure: which filter refused the request. */
  innererror?: Fields;
}

export interface AppErrorOptions extends ErrorOptions {
  /** Response headers that belong to the error: `Allow`, `Retry-After`. */
  headers?: Record<string, string>;
  errors?: FieldError[];
  /** Set if a provider answered an error that the caller may read. */
  provider?: ProviderWords;
}

/**
 * An error whose message the caller may read, so it must never contain a secret. Quotes of a provider
 * are bounded and redacted. Everything that is not an `AppError` is answered as an opaque 500.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const error = new AppError(404, "not_found", "cannot read run 7: it does not exist");
 * assertEquals([error.status, error.code], [404, "not_found"]);
 * ```
 */
export class AppError extends Error {
  override readonly name: string = "AppError";
  readonly headers: Record<string, string>;
  readonly errors: FieldError[] | undefined;
  readonly provider: ProviderWords | undefined;

  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, options);
    this.headers = options.headers ?? {};
    this.errors = options.errors;
    this.provider = options.provider;
  }
}

/** 404 for what does not exist, or no longer. */
export function notFound(message: string): AppError {
  return new AppError(404, "not_found", message);
}

/** 409 for what the state of a run or a group does not allow now. */
export function conflict(message: string, options: AppErrorOptions = {}): AppError {
  return new AppError(409, "conflict", message, options);
}

/** 400 for a parameter of the query, and why it cannot be used. */
export function invalidParameter(path: string, message: string): AppError {
  return invalidRequest("query", { path, message });
}

/**
 * 400 for a field of the body, and why it cannot be used.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const { status, errors } = invalidField("attempts", "must be at least 1");
 * assertEquals(status, 400);
 * assertEquals(errors, [{ path: "attempts", message: "must be at least 1" }]);
 * ```
 */
export function invalidField(path: string, message: string): AppError {
  return invalidRequest("request body", { path, message });
}

/** 400 for a field that the service does not support; `message` says what to do instead. */
export function unsupportedField(path: string, message: string): AppError {
  return new AppError(400, "unsupported_parameter", `cannot use ${path}: ${message}`, {
    errors: [{ path, message }],
  });
}

function invalidRequest(place: string, error: FieldError): AppError {
  const { path, message } = error;
  return new AppError(400, "invalid_request", `cannot use the ${place}: ${path}: ${message}`, {
    errors: [error],
  });
}

/** The caller's connection closed before its request had arrived. */
export class ClientLeft extends Error {
  override readonly name = "ClientLeft";
}

/** True for what an `AbortSignal` throws: the caller has left and needs no answer. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/**
 * The message of whatever was thrown. It is for people; only an `AppError`'s is for callers too.
 */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
