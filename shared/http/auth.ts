import { createHash, timingSafeEqual } from "node:crypto";
import { AppError } from "../service/errors.ts";
import type { Guard } from "./router.ts";

/** Names the caller whose key a request carries, as a bearer token or as `x-api-key`. */
export function identifyCaller(keys: CallerKey[]): Guard {
  const known = keys.map(({ name, key }) => ({ name, digest: digest(key) }));
  return (request, context) => {
    const given = readApiKey(request);
    if (given === undefined) return;
    const name = findName(known, digest(given));
    if (name !== undefined) context.fields.caller = name;
  };
}

/** Refuses a caller that was not identified, unless the route needs no key. */
export const requireCaller: Guard = (request, { fields, route }) => {
  if (fields.caller !== undefined || route?.needsKey === false) return;
  if (typeof route?.needsKey === "function" && !route.needsKey(request)) return;
  throw new AppError(
    401,
    "unauthorized",
    "the API key is missing or invalid: send it as authorization: Bearer … or as x-api-key",
    { headers: { "www-authenticate": "Bearer" } },
  );
};

/** The key that a request carries, whether it is a valid one or not. */
export function readApiKey(request: Request): string | undefined {
  const bearer = /^Bearer\s+(.+)$/i.exec(request.headers.get("authorization") ?? "");
  return bearer?.[1]?.trim() ?? request.headers.get("x-api-key")?.trim();
}

/** All digests have one length, so that a comparison does not reveal the length of a key. */
function digest(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

/** Compares with every key, also after a match: the time must not reveal which one it was. */
function findName(
  known: { name: string; digest: Uint8Array }[],
  given: Uint8Array,
): string | undefined {
  let found: string | undefined;
  for (const { name, digest } of known) if (timingSafeEqual(digest, given)) found ??= name;
  return found;
}

/** A key that callers may send, and the name by which logs and limits know its holder. */
export interface CallerKey {
  name: string;
  key: string;
}

/**
 * Reads `name:key` and plain `key` items; a plain one is named `key-<position>`. Several keys may
 * share a name, so that a key can be replaced without an interruption.
 */
export function parseCallerKeys(items: string[]): CallerKey[] {
  return items.map((item, index) => {
    const [, name, key] = /^([A-Za-z][\w.-]{0,63}):(.+)$/.exec(item) ?? [];
    return name && key ? { name, key } : { name: `key-${index + 1}`, key: item };
  });
}
