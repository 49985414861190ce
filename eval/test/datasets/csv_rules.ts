/**
 * The beginning of a cell that spreadsheets read as a formula, also in its full-width form and, for
 * those that trim, behind blanks. An apostrophe in front makes it text; they do not show it. If a text
 * has an apostrophe of its own there, it gets another one, so that `unguardText` removes only one.
 */
const FORMULA_START = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;

/** Text that no spreadsheet reads as a formula. */
export function guardText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text;
}

/** Undoes `guardText`. */
export function unguardText(text: string): string {
  return text.startsWith("'") && FORMULA_START.test(text) ? text.slice(1) : text;
}

/** Columns that, together, only the CSV file of a run has. */
const COLUMNS = ["run_id", "scenario_id", "attempt_id"];

/**
 * Whether a table with these columns is the CSV file of a run, which has a row per turn of each
 * attempt.
 */
export function isRunTable(columns: string[]): boolean {
  return COLUMNS.every((name) => columns.includes(name));
}

/** What separates the cells of a table, most likely first: Excel writes `;` where `,` is decimal. */
const SEPARATORS = [",", ";", "\t"];

/** The separator of a table by the row that names its columns: the one that is most frequent there. */
export function csvSeparator(head: string): string {
  const plain = head.replace(/"[^"]*"/g, "");
  const count = (separator: string) => plain.split(separator).length;
  return SEPARATORS.toSorted((a, b) => count(b) - count(a))[0]!;
}
