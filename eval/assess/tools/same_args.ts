import { AnyArgument, ArgumentPattern } from "../../../shared/schemas/tools.ts";

type Arguments = Record<string, unknown>;

/** Whether a pattern of a caller is found in a text. */
export type MatchesPattern = (pattern: string, text: string) => boolean;

/** Two numbers that differ by no more are the same. */
const TOLERANCE = 1e-9;

/**
 * The share of arguments that are as expected, of all that are expected or given. 1 without any; 0
 * if the arguments are no JSON object.
 */
export function shareOfArguments(
  expected: Arguments,
  actual: Arguments | string,
  matches: MatchesPattern,
): number {
  if (typeof actual === "string") return 0;
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  if (names.size === 0) return 1;
  let same = 0;
  for (const name of names) {
    const isInBoth = Object.hasOwn(expected, name) && Object.hasOwn(actual, name);
    if (isInBoth && isAsExpected(expected[name], actual[name], matches)) same++;
  }
  return same / names.size;
}

function isAsExpected(expected: unknown, actual: unknown, matches: MatchesPattern): boolean {
  if (AnyArgument.safeParse(expected).success) return true;
  const pattern = patternIn(expected);
  if (pattern === undefined) return isSame(expected, actual);
  const text = matchedText(actual);
  return text !== undefined && matches(pattern, text);
}

/** What a pattern is looked for in; `undefined` if nothing in the argument can match one. */
export function matchedText(actual: unknown): string | undefined {
  return typeof actual === "string" || typeof actual === "number" ? String(actual) : undefined;
}

/** The pattern that an argument must match, if it is one. */
export function patternIn(expected: unknown): string | undefined {
  return ArgumentPattern.safeParse(expected).data?.$regex;
}

/** Deep equality of JSON values; the order of an object's keys does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") {
    return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
      a.every((item, index) => isSame(item, b[index]));
  }
  const names = Object.keys(a);
  return names.length === Object.keys(b).length &&
    names.every((name) =>
      Object.hasOwn(b, name) && isSame((a as Arguments)[name], (b as Arguments)[name])
    );
}
