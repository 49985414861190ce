/**
 * What Python's `str.split()` takes for a blank. The reference implementations are Python, and
 * JavaScript's `\s` differs from it: it has U+FEFF and lacks U+001C–U+001F and U+0085.
 */
// deno-lint-ignore no-control-regex
const BLANKS = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

/** The pieces of a text between its blanks; `[]` for a text of nothing else. */
export function splitBlanks(text: string): string[] {
  return text.split(BLANKS).filter((piece) => piece !== "");
}
