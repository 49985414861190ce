import type { Hash } from "node:crypto";
import { createYielder } from "./yielder.ts";

/** Longer texts are digested in pieces of this length, which only `node:crypto` can do. */
const PIECE_CHARACTERS = 1_000_000;

/**
 * The SHA-256 of pieces of text together, in hexadecimal. The event loop runs in between. Most texts
 * are short, and `node:crypto` takes 17 ms to load.
 */
export async function digestOf(pieces: Iterable<string>): Promise<string> {
  const yieldIfDue = createYielder();
  let hash: Hash | undefined;
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length >= PIECE_CHARACTERS) {
      hash ??= (await import("node:crypto")).createHash("sha256");
      hash.update(text);
      text = "";
    }
    await yieldIfDue();
  }
  if (hash) return hash.update(text).digest("hex");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}
