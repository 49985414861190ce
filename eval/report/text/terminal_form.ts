import { oneLine, oneLineEnds, type TextForm } from "./text_form.ts";

/** Plain text, in columns. */
export const terminalForm: TextForm = {
  title: (text, level) => level === 1 ? `${text}\n` : `\n${text}\n\n`,
  lines: (lines) => lines.map((line) => `  ${line}\n`).join(""),
  item: (line, below) => `  ${line}\n${below.map((text) => `    ${text}\n`).join("")}`,
  name: (text) => oneLine(text, 100) || "(empty)",
  message: (text) => oneLineEnds(text, 400) || "(empty)",
  table: renderTable,
};

const WIDEST_CELL = 60;

/** Rows under a header; the first column to the left, the others, being numbers, to the right. */
export function renderTable(header: string[], rows: string[][]): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => oneLine(cell, WIDEST_CELL)));
  const widths = header.map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? "")), 0)
  );
  const line = (row: string[]) =>
    row.map((cell, column) => {
      const padding = " ".repeat(widths[column]! - widthOf(cell));
      return column === 0 ? cell + padding : padding + cell;
    }).join("  ").trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [line(cells[0]!), rule, ...cells.slice(1).map(line)].join("\n") + "\n";
}

/** Columns on a terminal: Chinese, Japanese, Korean and emoji take two. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length; // segmenting costs a hundred times as much
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{Emoji_Presentation}\uff01-\uff60]/u
        .test(segment)
      ? 2
      : 1;
  }
  return width;
}
