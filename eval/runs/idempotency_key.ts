import { AppError } from "../../shared/errors.ts";

const MAX_KEY_LENGTH = 255;

/** The caller's own name for its request, with a digest of the body that it came with. */
export async function readIdempotencyKey(
  headers: Headers,
  body: unknown,
): Promise<{ key: string; bodyHash: string } | undefined> {
  const key = headers.get("idempotency-key")?.trim();
  if (key === undefined) return undefined;
  if (key === "" || key.length > MAX_KEY_LENGTH) {
    throw new AppError(
      400,
      "invalid_request",
      `cannot use this Idempotency-Key: it must have 1 to ${MAX_KEY_LENGTH} characters`,
    );
  }
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return { key, bodyHash: digest.toHex() };
}
