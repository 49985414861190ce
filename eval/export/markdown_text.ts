import { oneLine } from "./shorten.ts";

/** Of one name or text inside a table. */
const SHOWN_CHARACTERS = 80;

/**
 * Somebody else's text inside Markdown, as a code span: there it can be no markup, no HTML, no link
 * and no `@mention` that wakes a stranger. Also safe in a table.
 */
export function codeSpan(text: string): string {
  const plain = oneLine(text, SHOWN_CHARACTERS);
  if (plain === "") return "(empty)";
  const longest = Math.max(0, ...(plain.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const padding = plain.startsWith("`") || plain.endsWith("`") ? " " : "";
  // A table is cut at its bars before code is looked for, so they are escaped even here.
  return `${fence}${padding}${plain.replaceAll("|", "\\|")}${padding}${fence}`;
}

/** A table of cells that are Markdown already; the first column is text, the others are numbers. */
export function markdownTable(header: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |\n`;
  const rule = header.map((_, index) => index === 0 ? "---" : "---:");
  return line(header) + line(rule) + rows.map(line).join("");
}
