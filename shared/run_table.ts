/** Columns that, together, only the CSV file of a run has. */
const COLUMNS = ["run_id", "scenario_id", "attempt_id"];

/**
 * What spreadsheets take for a formula when a cell begins with it, also in its full-width form and,
 * for those that trim, behind blanks. An apostrophe in front makes it text again; they do not show it.
 */
const FORMULA_START = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;

/**
 * Whether a table with these columns is the CSV file of a run, which has a row per turn of each
 * attempt.
 */
export function isRunTable(columns: string[]): boolean {
  return COLUMNS.every((name) => columns.includes(name));
}

/** A text that no spreadsheet takes for a formula. */
export function guardText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text;
}

/** What `guardText` was given. */
export function unguardText(text: string): string {
  return text.startsWith("'") && FORMULA_START.test(text.slice(1)) ? text.slice(1) : text;
}
