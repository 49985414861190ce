import { createHash } from "node:crypto";
import { createYielder } from "./yielder.ts";

/** The SHA-256 of pieces of text together, in hexadecimal. The event loop runs in between. */
export async function digestOf(pieces: Iterable<string>): Promise<string> {
  const hash = createHash("sha256");
  const yieldIfDue = createYielder();
  for (const piece of pieces) {
    hash.update(piece);
    await yieldIfDue();
  }
  return hash.digest("hex");
}
