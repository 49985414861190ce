import { RE2JS } from "re2js";

/** A pattern's time grows with its instructions times the characters of the text. */
const MOST_INSTRUCTIONS = 1_500;

/** Throws if a caller's pattern is invalid, too large, or would need more than linear time. */
export function compilePattern(source: string): RE2JS {
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source)); // such as \u00e9
  if (pattern.programSize() <= MOST_INSTRUCTIONS) return pattern;
  throw new Error("the pattern is too large: it repeats too much");
}

/** Whether a pattern is valid in JavaScript but not in RE2, such as one with a lookahead. */
export function isForeignPattern(source: string): boolean {
  try {
    new RegExp(source);
  } catch {
    return false;
  }
  try {
    compilePattern(source);
    return false;
  } catch {
    return true;
  }
}
