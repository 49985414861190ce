/** A key that callers may send, and the name by which logs and limits know its holder. */
export interface CallerKey {
  name: string;
  key: string;
}

/**
 * Reads `name:key` and plain `key` items; a plain one is named `key-<position>`. Several keys may
 * share a name, so that a key can be replaced without an interruption.
 */
export function parseCallerKeys(items: string[]): CallerKey[] {
  return items.map((item, index) => {
    const [, name, key] = /^([A-Za-z][\w.-]{0,63}):(.+)$/.exec(item) ?? [];
    return name && key ? { name, key } : { name: `key-${index + 1}`, key: item };
  });
}
