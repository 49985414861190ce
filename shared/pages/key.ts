import { signal } from "@preact/signals";

const STORED_AS = "assay-key";

/** Set while the page waits for the person's key. `isRefused`: the last one was wrong. */
export const keyRequest = signal<{ isRefused: boolean } | undefined>(undefined);

let waiting = Promise.withResolvers<void>();

/** The header with the key; none if the person has not been asked. */
export function keyHeaders(): Record<string, string> {
  const key = sessionStorage.getItem(STORED_AS);
  return key ? { "x-api-key": key } : {};
}

/** Asks the person for the key. All requests that wait for it continue together. */
export async function requireKey({ isRefused }: { isRefused: boolean }): Promise<void> {
  keyRequest.value ??= { isRefused };
  await waiting.promise;
}

/** Keeps the key until the browser's tab is closed. */
export function giveKey(key: string): void {
  sessionStorage.setItem(STORED_AS, key.trim());
  keyRequest.value = undefined;
  waiting.resolve();
  waiting = Promise.withResolvers();
}
