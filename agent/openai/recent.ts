/** Values of the last minutes, by key. */
export interface Recent<T> {
  keep(key: string, value: T): void;
  /** `undefined` if it was never kept, or is too old, or had to make room. */
  find(key: string): T | undefined;
}

export interface RecentOptions {
  maxAgeMs: number;
  /** Of all values together, as JSON; the oldest make room. */
  maxCharacters: number;
  /** Milliseconds; only differences count. */
  now?: () => number;
}

/** Keeps values in memory. Keys must be hard to guess if callers send them. */
export function createRecent<T>(
  { maxAgeMs, maxCharacters, now = Date.now }: RecentOptions,
): Recent<T> {
  /** In the order in which they were kept. */
  const entries = new Map<string, { value: T; size: number; keptAt: number }>();
  let total = 0;

  function remove(key: string): void {
    total -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  function removeOld(): void {
    for (const [key, { keptAt }] of entries) {
      if (total <= maxCharacters && now() - keptAt < maxAgeMs) return;
      remove(key);
    }
  }

  return {
    keep(key, value) {
      remove(key);
      const size = JSON.stringify(value).length;
      entries.set(key, { value, size, keptAt: now() });
      total += size;
      removeOld();
    },
    find(key) {
      removeOld();
      return entries.get(key)?.value;
    },
  };
}
