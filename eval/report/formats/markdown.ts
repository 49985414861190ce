import { compareReport, pairReport } from "../compare_report.ts";
import { runReport } from "../run_report.ts";
import { renderText } from "../text/render.ts";
import { readNumbers } from "../text/run_numbers.ts";
import type { ExportFormat } from "../format.ts";
import { terminalForm } from "../text/terminal_form.ts";
import { oneLine, oneLineEnds, type TextForm } from "../text/text_form.ts";

/** Of one name or text. */
const SHOWN_CHARACTERS = 80;
/** Of an error's message. */
const SHOWN_MESSAGE = 300;

/** GitHub's and GitLab's Markdown. */
export const markdownForm: TextForm = {
  title: (text, level) => level === 1 ? `## ${text}\n\n` : `\n### ${text}\n\n`,
  lines: (lines) => lines.map((line) => `- ${line}\n`).join(""),
  item: (line, below) => `- ${line}\n${below.map((text) => `  - ${text}\n`).join("")}`,
  name: (text) => codeSpan(oneLine(text, SHOWN_CHARACTERS)),
  message: (text) => codeSpan(oneLineEnds(text, SHOWN_MESSAGE)),
  table(header, rows) {
    // Rows are split at `|` before code spans are parsed.
    const cell = (text: string) => text.replaceAll("|", "\\|");
    const line = (cells: string[]) => `| ${cells.map(cell).join(" | ")} |\n`;
    const rule = header.map((_, index) => index === 0 ? "---" : "---:");
    return line(header) + line(rule) + rows.map(line).join("");
  },
};

/** For a pull request's comment. */
export const markdown: ExportFormat = {
  name: "markdown",
  about: "a summary for a pull request's comment, with the five lowest replies; " +
    "`baseline={id}` adds a comparison",
  extension: "md",
  contentType: "text/markdown; charset=utf-8",
  uses: ["threshold"],
  ...writtenIn(markdownForm),
};

/** What the command line prints. */
export const text: ExportFormat = {
  name: "text",
  about: "the same as plain text, as the command line prints it",
  extension: "txt",
  contentType: "text/plain; charset=utf-8",
  uses: ["threshold"],
  ...writtenIn(terminalForm),
};

function writtenIn(form: TextForm): Pick<ExportFormat, "write" | "writeComparison"> {
  return {
    async *write(source) {
      yield renderText(runReport(source, await readNumbers(source)), form);
      if (source.comparison) {
        const { result, newFailures, fallen } = source.comparison;
        yield renderText(pairReport(result, { newFailures, fallen: await fallen?.() }), form);
      }
    },
    async *writeComparison({ result, fallen }) {
      yield renderText(compareReport(result, { fallen: await fallen?.() }), form);
    },
  };
}

/**
 * Text of others as a code span, in which it cannot become markup, HTML, a link or an `@mention`.
 */
function codeSpan(plain: string): string {
  if (plain === "") return "(empty)";
  const longest = Math.max(0, ...(plain.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const padding = plain.startsWith("`") || plain.endsWith("`") ? " " : "";
  return `${fence}${padding}${plain}${padding}${fence}`;
}
