/**
 * Runs without the blanks of Python's `str.split()`, as in the reference implementations. The
 * blanks of JavaScript's `\s` differ: they include U+FEFF but not U+001C–U+001F and U+0085.
 */
// deno-lint-ignore no-control-regex
const PIECES = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;

/** The parts of a text between blanks; `[]` if there are only blanks. */
export function splitBlanks(text: string): string[] {
  return text.match(PIECES) ?? [];
}

// deno-lint-ignore no-control-regex
const BLANK = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Python's `str.rstrip()`. */
export function trimEndBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && BLANK.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
