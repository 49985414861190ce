import type { CsvError as ParserError } from "csv-parse";
import { csvSeparator } from "../datasets/csv_rules.ts";
import { loadApart } from "../../../shared/service/waiting.ts";
import { ImportError } from "./format.ts";
import { LONGEST_LINE, readBeginning } from "./lines.ts";

/** The most columns: each row becomes an object with as many fields. */
const MOST_COLUMNS = 10_000;

export interface Row {
  /** Where it begins, counted from 1. */
  line: number;
  cells: Record<string, string>;
}

/**
 * The rows of a CSV text that arrives in pieces. The first row names the columns, and tells what
 * separates them. Rows without any text are skipped: spreadsheets write them at the end.
 */
export async function* readTable(pieces: AsyncIterable<string>): AsyncGenerator<Row> {
  // Only if there is a table: together they take 30 ms to load.
  const { pipeline, Readable } = await import("node:stream");
  const { CsvError, parse } = await loadApart(() => import("csv-parse"));
  const { beginning, all } = await readBeginning(pieces);
  const head = firstLine(beginning);
  const delimiter = csvSeparator(head);
  if (head.replace(/"[^"]*"/g, "").split(delimiter).length > MOST_COLUMNS) throw tooManyColumns();
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    // If unset, the parser takes 50 s to detect it in a first row of 200,000 columns.
    record_delimiter: ["\r\n", "\n", "\r"],
    skip_empty_lines: true,
    max_record_size: LONGEST_LINE, // of the texts in it: a cell may have lines of its own
  });
  pipeline(Readable.from(boundLines(all)), parser, () => {}); // failures are thrown by the parser
  let names: string[] | undefined;
  let line = 1;
  try {
    for await (const { record, info } of parser) {
      const hasText = record.some((cell: string) => cell.trim() !== "");
      if (hasText && names) yield { line, cells: toCells(names, record) };
      else if (hasText) names = requireDistinct(record.map((name: string) => name.trim()));
      line = info.lines + 1;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser is ahead of the rows that were read, so its line is the right one.
    const { message, lines = line } = error as ParserError & { lines?: number };
    throw new ImportError(lines, message);
  }
  if (!names) throw new ImportError(1, "there is no row with the names of the columns");
}

/** Throws if a line, separators included, is too long. */
async function* boundLines(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let length = 0;
  let line = 1;
  for await (const piece of pieces) {
    const lines = piece.split(/[\r\n]/);
    const last = lines.at(-1)!.length;
    length = lines.length > 1 ? last : length + last;
    line += piece.split("\n").length - 1;
    if (length > LONGEST_LINE) {
      throw new ImportError(line, `it is longer than ${LONGEST_LINE} characters`);
    }
    yield piece;
  }
}

function firstLine(text: string): string {
  return text.trimStart().split(/[\r\n]/, 1)[0]!;
}

/** Columns without a name may be several: spreadsheets add them at the end. */
function requireDistinct(names: string[]): string[] {
  if (names.length > MOST_COLUMNS) throw tooManyColumns(); // in a row of several lines
  const seen = new Set<string>();
  for (const name of names) {
    if (name !== "" && seen.has(name)) {
      throw new ImportError(1, `there are several columns ${name}; name them differently`);
    }
    seen.add(name);
  }
  return names;
}

function tooManyColumns(): ImportError {
  return new ImportError(1, `there are more than ${MOST_COLUMNS} columns`);
}

function toCells(names: string[], record: string[]): Row["cells"] {
  return Object.fromEntries(names.map((name, index) => [name, record[index] ?? ""]));
}
