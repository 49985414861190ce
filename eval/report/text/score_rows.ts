import type { GradeAgreement } from "../../test/grades.ts";
import type { Statistic } from "../../test/statistics.ts";
import { HEADLINE } from "../../figures/passing.ts";
import { readNumbers } from "./run_numbers.ts";
import type { ExportSource } from "../format.ts";
import { guardText } from "../../test/datasets/csv_rules.ts";

/** All that a run says of one score: a row of a table, or a line of JSON. */
interface ScoreRow extends Statistic {
  run_id: string;
  model_id: string;
  /** `name@version`, if the run named a dataset. */
  dataset?: string;
  score: string;
  /** Only with the score that people were compared with. */
  agreement?: GradeAgreement;
}

/** The scores of a run, `overall` first. */
export async function readScoreRows(source: ExportSource): Promise<ScoreRow[]> {
  const { run, agreement } = source;
  const { statistics } = await readNumbers(source);
  const graded = agreement && (agreement.judge?.score ?? HEADLINE);
  const names = Object.keys(statistics).filter((name) => name !== HEADLINE);
  if (statistics[HEADLINE]) names.unshift(HEADLINE);
  return names.map((score) => ({
    run_id: run.id,
    model_id: run.modelId,
    ...(run.request.dataset !== undefined && { dataset: run.request.dataset }),
    score,
    ...statistics[score]!,
    ...(agreement && score === graded && { agreement }),
  }));
}

type Column = [name: string, value: (row: ScoreRow) => CsvCell];

const COLUMNS: Column[] = [
  ["run_id", ({ run_id }) => run_id],
  ["model_id", ({ model_id }) => model_id],
  ["score", ({ score }) => score],
  ["mean", ({ mean }) => mean],
  ["ci95_low", ({ ci95 }) => ci95?.[0]],
  ["ci95_high", ({ ci95 }) => ci95?.[1]],
  ["stderr", ({ stderr }) => stderr],
  ["scenarios", ({ n }) => n],
  ["turns", ({ turns }) => turns],
  ["failed", ({ failed }) => failed],
  ["missing", ({ missing }) => missing],
];

const DATASET_COLUMNS: Column[] = [["dataset", ({ dataset }) => dataset]];

/** Krippendorff's alphas, and how the score differs from people. */
const AGREEMENT_COLUMNS: Column[] = [
  ["agreement_of_people", ({ agreement }) => agreement?.people.alpha],
  ["agreement_with_people", ({ agreement }) => agreement?.judge?.alpha],
  ["difference_from_people", ({ agreement }) => agreement?.judge?.mean_difference.mean],
];

/** The same as CSV, with a header; columns without any value are left out. */
export function writeScoreTable(rows: ScoreRow[]): string {
  const has = (field: keyof ScoreRow) => rows.some((row) => row[field] !== undefined);
  const columns = [
    ...COLUMNS,
    ...(has("dataset") ? DATASET_COLUMNS : []),
    ...(has("agreement") ? AGREEMENT_COLUMNS : []),
  ];
  const cells = rows.map((row) => columns.map(([, value]) => value(row)));
  return [columns.map(([name]) => name), ...cells].map(writeRow).join("");
}

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

/** Text is always quoted, because some readers guess the separator. */
function writeCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return String(cell);
  const text = cell.replaceAll("\0", "").toWellFormed(); // a NUL ends the cell for many readers
  return `"${guardText(text).replaceAll('"', '""')}"`;
}
