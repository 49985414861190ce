import { createHash } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { readApiKey } from "../../shared/http/router/auth.ts";
import type { RequestContext } from "../../shared/http/router/router.ts";
import type { IdempotencyKey } from "../store/store.ts";

const MAX_KEY_LENGTH = 255;

/**
 * The `Idempotency-Key` of a request, with a digest of its body. Keys are separate per API key: two
 * callers may use the same one. Throws 400 `invalid_request` if it is empty or too long.
 */
export function readIdempotencyKey(
  request: Request,
  { context, body }: { context: Pick<RequestContext, "fields">; body: unknown },
): IdempotencyKey | undefined {
  const key = request.headers.get("idempotency-key")?.trim();
  if (key === undefined) return undefined;
  if (key === "" || key.length > MAX_KEY_LENGTH) {
    throw new AppError(
      400,
      "invalid_request",
      `cannot use this Idempotency-Key: it must have 1 to ${MAX_KEY_LENGTH} characters`,
    );
  }
  const isIdentified = context.fields.caller !== undefined;
  return {
    caller: isIdentified ? digestOf(readApiKey(request) ?? "") : "",
    key,
    bodyHash: digestOf(JSON.stringify(body)),
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** 422 for a key that was used with a different body. */
export function keyReused(): AppError {
  return new AppError(
    422,
    "idempotency_key_reused",
    "cannot use this Idempotency-Key: it was already used with a different body",
  );
}
