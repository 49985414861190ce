// deno-lint-ignore-file no-console -- a bench speaks to its terminal

/** A figure, and whether it keeps its goal; one without a goal keeps it. */
export interface Figure {
  text: string;
  isKept?: boolean;
}

/** Figures of one kind with their goal, which holds for every cell. */
export interface Table {
  /** Where it stands in the documents, if it does. */
  name?: string;
  title: string;
  columns: string[];
  rows: { name: string; figures: Figure[] }[];
}

const DOCUMENT = new URL("../../../docs/scores-and-statistics.md", import.meta.url);

/** Prints a table in Markdown and returns how many of its figures miss their goal, which are marked. */
export function printTable({ title, columns, rows }: Table): number {
  console.log(`\n${title}\n`);
  console.log(writeTable({ columns, rows }));
  return rows.flatMap(({ figures }) => figures).filter(({ isKept = true }) => !isKept).length;
}

function writeTable({ columns, rows }: Pick<Table, "columns" | "rows">): string {
  const shown = rows.map(({ name, figures }) => [
    name,
    ...figures.map(({ text, isKept = true }) => isKept ? text : `${text} (MISSED)`),
  ]);
  const lines = [columns, columns.map(() => "---"), ...shown];
  const widths = columns.map((_, place) => Math.max(...lines.map((line) => line[place]!.length)));
  return lines.map((line) =>
    `| ${line.map((cell, place) => cell.padEnd(widths[place]!)).join(" | ")} |`
  ).join("\n");
}

/** Replaces the table of that name in the documents, which stands between two comments. */
export async function writeToDocument(table: Table): Promise<void> {
  const text = await Deno.readTextFile(DOCUMENT);
  const start = `<!-- deno task bench trust: ${table.name} -->`;
  const [before, rest] = text.split(start);
  if (rest === undefined) throw new Error(`there is no ${start} in ${DOCUMENT.pathname}`);
  const after = rest.slice(rest.indexOf("<!-- end -->"));
  await Deno.writeTextFile(DOCUMENT, `${before}${start}\n\n${writeTable(table)}\n\n${after}`);
}
