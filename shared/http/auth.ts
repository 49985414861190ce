import { createHash, timingSafeEqual } from "node:crypto";
import { AppError } from "../errors.ts";
import type { Guard } from "./router.ts";

/** Lets a request pass that carries one of `keys`, as a bearer token or as `x-api-key`. */
export function requireApiKey(keys: string[]): Guard {
  const known = keys.map(digest);
  return (request) => {
    const given = readApiKey(request);
    if (given !== undefined && matches(known, digest(given))) return;
    throw new AppError(
      401,
      "unauthorized",
      "cannot serve this caller: send a valid key as authorization: Bearer … or as x-api-key",
      { headers: { "www-authenticate": "Bearer" } },
    );
  };
}

function readApiKey(request: Request): string | undefined {
  const bearer = /^Bearer\s+(.+)$/i.exec(request.headers.get("authorization") ?? "");
  return bearer?.[1]?.trim() ?? request.headers.get("x-api-key")?.trim();
}

/** Digests have one length, so a comparison tells nothing, not even how long a key is. */
function digest(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

function matches(known: Uint8Array[], given: Uint8Array): boolean {
  let found = false;
  for (const key of known) found = timingSafeEqual(key, given) || found;
  return found;
}
