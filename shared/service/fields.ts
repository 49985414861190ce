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

/** The same fields without those that are `undefined`. */
export function defined<const T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}

type Defined<T> =
  & { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

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

/** No real body is nested deeper. */
const MOST_LEVELS = 200;

/** No real body has more values. A schema takes microseconds for each, and blocks the event loop. */
const MOST_VALUES = 500_000;

const QUOTE = 34;
const COMMA = 44;
const OPENING_BRACKET = 91;
const BACKSLASH = 92;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/**
 * Counts levels and values of JSON text while it arrives. `refuse` creates the error. `JSON.parse`
 * accepts any depth, but `JSON.stringify` and the schemas recurse and could overflow the stack.
 */
export function createShapeGauge(
  refuse: (reason: string) => Error,
): { add(text: string): void } {
  let depth = 0;
  let values = 1;
  let isInString = false;
  let isEscaped = false;

  /** The quote that ends a string, or the length of the text. Searching is faster than looking. */
  function endOfString(text: string, from: number): number {
    if (isEscaped) from++;
    for (;;) {
      const quote = text.indexOf('"', from);
      const end = quote === -1 ? text.length : quote;
      let slashes = 0;
      while (end - slashes > from && text.charCodeAt(end - slashes - 1) === BACKSLASH) slashes++;
      isEscaped = slashes % 2 === 1;
      if (quote === -1) return text.length;
      if (!isEscaped) return quote;
      isEscaped = false;
      from = quote + 1;
    }
  }

  return {
    /** Throws once the text is too deep or too wide. */
    add(text) {
      for (let at = 0; at < text.length; at++) {
        if (isInString) {
          at = endOfString(text, at);
          if (at === text.length) return;
          isInString = false;
          continue;
        }
        switch (text.charCodeAt(at)) {
          case QUOTE:
            isInString = true;
            break;
          case COMMA:
            values++;
            break;
          case OPENING_BRACKET:
          case OPENING_BRACE:
            depth++;
            break;
          case CLOSING_BRACKET:
          case CLOSING_BRACE:
            depth--;
        }
        if (depth > MOST_LEVELS) throw refuse(`it is nested more than ${MOST_LEVELS} levels deep`);
        if (values > MOST_VALUES) throw refuse(`it has more than ${MOST_VALUES} values`);
      }
    },
  };
}

/** Whether JSON text is neither too deep nor too wide. */
export function isPlainShape(text: string): boolean {
  if (text.length <= 2 * MOST_LEVELS) return true; // each level takes two brackets
  try {
    createShapeGauge(Error).add(text);
    return true;
  } catch {
    return false;
  }
}
