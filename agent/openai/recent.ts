/** Values of the last minutes. */
export interface Recent<T> {
  /** Keeps a value under its keys. Only the same caller finds it. */
  keep(value: T, place: { caller: string; keys: string[] }): void;
  /** `undefined` if it was never kept, or is too old, or had to make room. */
  find(key: string, caller: string): T | undefined;
}

export interface RecentOptions {
  maxAgeMs: number;
  /** Of all values together, as JSON; the oldest make room. */
  maxCharacters: number;
  /** Milliseconds; only differences count. */
  now?: () => number;
}

interface Entry<T> {
  value: T;
  keys: string[];
  size: number;
  keptAt: number;
}

/** Keeps values in memory. Keys must be hard to guess: callers without API keys are all one caller. */
export function createRecent<T>(
  { maxAgeMs, maxCharacters, now = Date.now }: RecentOptions,
): Recent<T> {
  /** In the order in which they were kept; each under all its keys. */
  const entries = new Map<string, Entry<T>>();
  let total = 0;

  function remove(entry: Entry<T>): void {
    for (const key of entry.keys) entries.delete(key);
    total -= entry.size;
  }

  function removeOld(): void {
    for (const entry of entries.values()) {
      if (total <= maxCharacters && now() - entry.keptAt < maxAgeMs) return;
      remove(entry);
    }
  }

  return {
    keep(value, { caller, keys }) {
      const size = JSON.stringify(value).length;
      const entry = { value, keys: keys.map((key) => join(caller, key)), size, keptAt: now() };
      for (const key of entry.keys) {
        const before = entries.get(key);
        if (before) remove(before);
      }
      for (const key of entry.keys) entries.set(key, entry);
      total += size;
      removeOld();
    },
    find(key, caller) {
      removeOld();
      return entries.get(join(caller, key))?.value;
    },
  };
}

/** The name of a caller has no blank. */
function join(caller: string, key: string): string {
  return `${caller} ${key}`;
}
