import { csvSeparator } from "../../../shared/csv_separator.ts";

/** The rows of a CSV file (RFC 4180, any of three separators); a quote that is never closed ends there. */
export function parseCsv(text: string): string[][] {
  const plain = text.replace(/^\ufeff/, "");
  const [head = ""] = plain.split(/\r?\n/, 1);
  const separator = csvSeparator(head);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
    cell = "";
  };
  for (let at = 0; at < plain.length; at++) {
    const character = plain[at]!;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (plain[at + 1] === '"') cell += plain[++at];
      else isQuoted = false;
    } else if (character === '"' && cell === "") isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n") endRow();
    else if (character !== "\r") cell += character;
  }
  endRow();
  return rows;
}
