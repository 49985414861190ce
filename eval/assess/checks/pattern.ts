import { RE2JS } from "re2js";

/** A pattern's time grows with its instructions times the characters of the text. */
const MOST_INSTRUCTIONS = 1_500;

/** A pattern of a caller; throws if it is wrong, too large, or has what takes more than linear time. */
export function compilePattern(source: string): RE2JS {
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source)); // such as \u00e9
  if (pattern.programSize() <= MOST_INSTRUCTIONS) return pattern;
  throw new Error("the pattern is too large: it repeats too much");
}

/** Whether JavaScript has a pattern and RE2 has not, as those that look ahead or back. */
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
