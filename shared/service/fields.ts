/** The fields of a JSON object. */
export type Fields = Record<string, unknown>;

/** True for an object that is neither `null` nor an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one. */
export function asFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The array, or an empty one. */
export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The fields that `keep` accepts. */
export function filterFields<Value>(
  fields: Readonly<Record<string, Value>>,
  keep: (value: Value, name: string) => unknown,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => keep(value, name)));
}

/** The text, or `null`. */
export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Parses JSON; `undefined` if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a JSON object; `undefined` if the text is not one. */
export function parseFields(text: string): Fields | undefined {
  const value = tryParseJson(text);
  return isFields(value) ? value : undefined;
}
