import { oneLine, oneLineEnds } from "../../export/text/shorten.ts";
import type { TextForm } from "../../export/text/text_form.ts";
import { renderTable } from "./table.ts";

/** Plain text, in columns. */
export const terminalForm: TextForm = {
  title: (text, level) => level === 1 ? `${text}\n` : `\n${text}\n\n`,
  lines: (lines) => lines.map((line) => `  ${line}\n`).join(""),
  item: (line, below) => `  ${line}\n${below.map((text) => `    ${text}\n`).join("")}`,
  name: (text) => oneLine(text, 100) || "(empty)",
  message: (text) => oneLineEnds(text, 400) || "(empty)",
  table: renderTable,
};
