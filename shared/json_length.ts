/**
 * How many characters a value has as JSON text. Counting ends soon after `limit`, so that a value of
 * any size takes no longer than one of that size; what is then returned is above the limit.
 */
export function jsonLength(value: unknown, limit: number): number {
  return leastLength(value, limit) > limit ? limit + 1 : JSON.stringify(value).length;
}

/** Without what escapes and digits add. */
function leastLength(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 1;
  let length = 1;
  for (const key in value) {
    length += Array.isArray(value) ? 1 : key.length + 4;
    length += leastLength((value as Record<string, unknown>)[key], limit - length);
    if (length > limit) break;
  }
  return Math.max(length, 2);
}
