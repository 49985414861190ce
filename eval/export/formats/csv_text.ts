import { guardText } from "../../datasets/csv_rules.ts";

const LINE_END = "\r\n"; // RFC 4180
/** Without it Excel reads UTF-8 as the system's own encoding. */
export const BYTE_ORDER_MARK = "\ufeff";

export type CsvCell = string | number | null | undefined;

/**
 * A line of a CSV file that is safe to open in a spreadsheet.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(writeRow(["run 1", 0.5, null, 'says "hi"']), '"run 1",0.5,,"says ""hi"""\r\n');
 * ```
 */
export function writeRow(cells: CsvCell[]): string {
  return cells.map(writeCell).join(",") + LINE_END;
}

/** Text is always quoted: some readers guess a separator, and quotes leave them nothing to guess. */
function writeCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return String(cell);
  const text = cell.replaceAll("\0", "").toWellFormed(); // a NUL ends the cell for many readers
  return `"${guardText(text).replaceAll('"', '""')}"`;
}
