import { csvSeparator } from "../../test/datasets/csv_rules.ts";

/** The rows of a CSV file, and the line of a quote that is never closed: the rest is in its cell. */
interface CsvRows {
  rows: string[][];
  unclosed?: number;
}

/** Reads a CSV file: RFC 4180, with any of three separators. Rows without any text are skipped. */
export function parseCsv(text: string): CsvRows {
  const plain = text.replace(/^\ufeff/, "");
  const [head = ""] = plain.split(/\r?\n/, 1);
  const separator = csvSeparator(head);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  let quoteAt = 0;
  const endRow = () => {
    row.push(cell);
    if (row.some((cell) => cell.trim() !== "")) rows.push(row);
    row = [];
    cell = "";
  };
  // Letter by letter, a file of some megabytes would take seconds.
  const ordinary = { quoted: /[^"]+/y, plain: new RegExp(`[^"\\r\\n${separator}]+`, "y") };
  for (let at = 0; at < plain.length; at++) {
    const letters = isQuoted ? ordinary.quoted : ordinary.plain;
    letters.lastIndex = at;
    cell += letters.exec(plain)?.[0] ?? "";
    at = letters.lastIndex || at; // 0 if there are none
    if (at === plain.length) break;
    const character = plain[at]!;
    if (isQuoted) {
      if (plain[at + 1] === '"') cell += plain[++at];
      else isQuoted = false;
    } else if (character === '"' && cell === "") {
      isQuoted = true;
      quoteAt = at;
    } else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n") endRow();
    else if (character !== "\r") cell += character;
  }
  endRow();
  if (!isQuoted) return { rows };
  return { rows, unclosed: plain.slice(0, quoteAt).split("\n").length };
}
