/** Columns that, together, only the CSV file of a run has. */
const COLUMNS = ["run_id", "scenario_id", "attempt_id"];

/**
 * Whether a table with these columns is the CSV file of a run, which has a row per turn of each
 * attempt.
 */
export function isRunTable(columns: string[]): boolean {
  return COLUMNS.every((name) => columns.includes(name));
}
