import { signal } from "@preact/signals";

const STORED_AS = "assay-key";
const HEADER = "x-api-key";

/** Set while the page waits for the person's key. `isRefused`: the last one was wrong. */
export const keyRequest = signal<{ isRefused: boolean } | undefined>(undefined);

let waiting = Promise.withResolvers<void>();

/** The header with the key; none if the person has not been asked. */
export function keyHeaders(): Record<string, string> {
  const key = sessionStorage.getItem(STORED_AS);
  return key ? { [HEADER]: key } : {};
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

/** Keeps the key until the browser's tab is closed. */
export function giveKey(key: string): void {
  sessionStorage.setItem(STORED_AS, key.trim());
  keyRequest.value = undefined;
  waiting.resolve();
  waiting = Promise.withResolvers();
}
