interface Entry<T> {
  value: T;
  caller: string;
  keys: string[];
  size: number;
  keptAt: number;
}

/**
 * Keeps values of the last minutes in memory. Keys must be hard to guess: callers without API keys
 * are all one caller.
 */
export function createRecent<T>(
  { maxAgeMs, maxCharacters, now = () => performance.now() }: {
    maxAgeMs: number;
    /**
     * Of all values together, as JSON. Beyond it the oldest values of the caller that holds the most
     * are dropped, so that no caller can displace the values of others.
     */
    maxCharacters: number;
    /** Milliseconds of a clock that is never set; only differences count. */
    now?: () => number;
  },
) {
  /** In the order in which they were kept; each under all its keys. */
  const entries = new Map<string, Entry<T>>();
  /** By caller; the oldest first. */
  const holdings = new Map<string, { entries: Set<Entry<T>>; size: number }>();
  let total = 0;

  function add(entry: Entry<T>): void {
    const holding = holdings.get(entry.caller) ?? { entries: new Set<Entry<T>>(), size: 0 };
    holdings.set(entry.caller, holding);
    for (const key of entry.keys) entries.set(key, entry);
    holding.entries.add(entry);
    holding.size += entry.size;
    total += entry.size;
  }

  function remove(entry: Entry<T>): void {
    const holding = holdings.get(entry.caller)!;
    for (const key of entry.keys) entries.delete(key);
    holding.entries.delete(entry);
    holding.size -= entry.size;
    if (holding.entries.size === 0) holdings.delete(entry.caller);
    total -= entry.size;
  }

  function removeOld(): void {
    for (const entry of entries.values()) {
      if (now() - entry.keptAt < maxAgeMs) return;
      remove(entry);
    }
  }

  function makeRoom(): void {
    while (total > maxCharacters) {
      const [largest] = [...holdings.values()].sort((a, b) => b.size - a.size);
      const [oldest] = largest!.entries;
      remove(oldest!);
    }
  }

  return {
    /** Keeps a value under its keys. Only the same caller finds it. */
    keep(value: T, { caller, keys }: { caller: string; keys: string[] }): void {
      const size = JSON.stringify(value).length;
      const names = keys.map((key) => join(caller, key));
      for (const name of names) {
        const before = entries.get(name);
        if (before) remove(before);
      }
      add({ value, caller, keys: names, size, keptAt: now() });
      removeOld();
      makeRoom();
    },
    /** `undefined` if it was never kept, is too old, or was dropped to make room. */
    find(key: string, caller: string): T | undefined {
      removeOld();
      return entries.get(join(caller, key))?.value;
    },
  };
}

/** The name of a caller contains no space. */
function join(caller: string, key: string): string {
  return `${caller} ${key}`;
}
