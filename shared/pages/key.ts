import { signal } from "@preact/signals";
import { keepText, readText } from "./storage.ts";

const STORED_AS = "assay-key";
const HEADER = "x-api-key";

/** Set while the page waits for the person's key. `isRefused`: the last one was wrong. */
export const keyRequest = signal<{ isRefused: boolean } | undefined>(undefined);

/** The key where the browser keeps none: then it lasts until the page is left. */
let unkept: string | undefined;
let waiting = Promise.withResolvers<void>();

/** The header with the key; none if the person has not been asked. */
export function keyHeaders(): Record<string, string> {
  const key = unkept ?? readText(() => sessionStorage, STORED_AS);
  return key ? { [HEADER]: key } : {};
}

export function hasKey(): boolean {
  return HEADER in keyHeaders();
}

/**
 * Asks the person for another key than that of the headers which the service refused. All requests
 * that wait for it continue together. Does not ask if it was given while the refusal was under way.
 */
export async function requireKey(refused: Record<string, string>): Promise<void> {
  if (keyHeaders()[HEADER] !== refused[HEADER]) return;
  keyRequest.value ??= { isRefused: HEADER in refused };
  await waiting.promise;
}

/** Whether a header can carry the key; what was pasted may have an invisible character. */
export function canBeSent(key: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(key.trim());
}

/** Keeps the key until the browser's tab is closed. */
export function giveKey(key: string): void {
  const isKept = keepText(() => sessionStorage, STORED_AS, key.trim());
  unkept = isKept ? undefined : key.trim();
  keyRequest.value = undefined;
  waiting.resolve();
  waiting = Promise.withResolvers();
}
