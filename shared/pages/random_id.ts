/**
 * A new id of 32 hexadecimal digits. `crypto.randomUUID` exists only on pages that came by HTTPS or
 * from this machine.
 */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
