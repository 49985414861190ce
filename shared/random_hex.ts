/** Random hexadecimal digits, 32 at most. */
export function randomHex(length = 32): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, length);
}
