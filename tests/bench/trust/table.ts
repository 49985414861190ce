// deno-lint-ignore-file no-console -- a bench speaks to its terminal

/** A figure, and whether it keeps its goal; one without a goal keeps it. */
export interface Figure {
  text: string;
  isKept?: boolean;
}

/** Figures of one kind with their goal, which holds for every cell. */
export interface Table {
  title: string;
  columns: string[];
  rows: { name: string; figures: Figure[] }[];
}

/** Prints a table in Markdown and returns how many of its figures miss their goal, which are marked. */
export function printTable({ title, columns, rows }: Table): number {
  const shown = rows.map(({ name, figures }) => [
    name,
    ...figures.map(({ text, isKept = true }) => isKept ? text : `${text} (MISSED)`),
  ]);
  const lines = [columns, columns.map(() => "---"), ...shown];
  const widths = columns.map((_, place) => Math.max(...lines.map((line) => line[place]!.length)));
  console.log(`\n${title}\n`);
  for (const line of lines) {
    console.log(`| ${line.map((cell, place) => cell.padEnd(widths[place]!)).join(" | ")} |`);
  }
  return rows.flatMap(({ figures }) => figures).filter(({ isKept = true }) => !isKept).length;
}
