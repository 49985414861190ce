/**
 * What spreadsheets take for a formula when a cell begins with it, also in its full-width form and,
 * for those that trim, behind blanks. An apostrophe in front makes it text again; they do not show it.
 * One that a text has itself gets another, so that `unguardText` can tell.
 */
const FORMULA_START = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;

/** A text that no spreadsheet takes for a formula. */
export function guardText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text;
}

/** What `guardText` was given. */
export function unguardText(text: string): string {
  return text.startsWith("'") && FORMULA_START.test(text) ? text.slice(1) : text;
}
