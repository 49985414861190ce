import { isFields } from "../../shared/service/fields.ts";
import { AnyArgument, ArgumentPattern } from "../test/tools.ts";

type Arguments = Record<string, unknown>;

/** A pattern and a text of an argument to match it with. */
export interface PatternText {
  pattern: string;
  text: string;
}

/** Whether a caller's pattern matches a text. */
export type MatchesPattern = (pattern: string, text: string) => boolean;

/** The largest relative difference of equal numbers. */
const TOLERANCE = 1e-9;

/**
 * The share of arguments that are as expected, of all that are expected or given. 1 if there are
 * none; 0 if the arguments are not a JSON object.
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

/** Patterns and `$any` may be at any depth of an argument. */
function isAsExpected(expected: unknown, actual: unknown, matches: MatchesPattern): boolean {
  return compareValues(expected, actual, (one, other) => {
    if (AnyArgument.safeParse(one).success) return true;
    const pattern = patternIn(one);
    if (pattern === undefined) return undefined;
    const text = matchedText(other);
    return text !== undefined && matches(pattern, text);
  });
}

/** The text to match with a pattern; `undefined` if the argument cannot match any. */
function matchedText(actual: unknown): string | undefined {
  return typeof actual === "string" || typeof actual === "number" ? String(actual) : undefined;
}

/** The pattern of an expected value, if it is one. */
function patternIn(expected: unknown): string | undefined {
  return ArgumentPattern.safeParse(expected).data?.$regex;
}

/** The patterns in an expected value, each with its text in the actual value. */
export function* patternTexts(expected: unknown, actual: unknown): Generator<PatternText> {
  const pattern = patternIn(expected);
  if (pattern !== undefined) {
    const text = matchedText(actual);
    if (text !== undefined) yield { pattern, text };
  } else if (isNested(expected) && isNested(actual)) {
    for (const [name, value] of Object.entries(expected)) {
      if (Object.hasOwn(actual, name)) yield* patternTexts(value, actual[name]);
    }
  }
}

/** All patterns in an expected value, with their paths. */
export function* patternsIn(
  expected: unknown,
  path = "",
): Generator<{ pattern: string; path: string }> {
  const pattern = patternIn(expected);
  if (pattern !== undefined) yield { pattern, path: `${path}.$regex` };
  else if (isNested(expected)) {
    for (const [name, value] of Object.entries(expected)) {
      yield* patternsIn(value, `${path}.${name}`);
    }
  }
}

/** Deep equality of JSON values; the order of an object's keys does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  return compareValues(a, b, () => undefined);
}

/** The same, but `decide` is asked first about every object in `a`, at any depth. */
function compareValues(
  a: unknown,
  b: unknown,
  decide: (a: Arguments, b: unknown) => boolean | undefined,
): boolean {
  if (typeof a === "number" && typeof b === "number") {
    return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));
  }
  const decided = isFields(a) ? decide(a, b) : undefined;
  if (decided !== undefined) return decided;
  if (!isNested(a) || !isNested(b)) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
      a.every((item, index) => compareValues(item, b[index], decide));
  }
  const names = Object.keys(a);
  return names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && compareValues(a[name], b[name], decide));
}

/** An object or an array. */
function isNested(value: unknown): value is Arguments {
  return typeof value === "object" && value !== null;
}
