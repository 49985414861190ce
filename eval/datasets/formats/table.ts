import type { CsvError as ParserError } from "csv-parse";
import { csvSeparator } from "../../../shared/csv_separator.ts";
import { ImportError } from "./format.ts";
import { readBeginning } from "./lines.ts";

/** A row of a table with named columns. */
export interface Row {
  /** Where it begins, counted from 1. */
  line: number;
  cells: Record<string, string>;
}

/**
 * The rows of a CSV text that arrives in pieces. The first row names the columns, and tells what
 * separates them.
 */
export async function* readTable(pieces: AsyncIterable<string>): AsyncGenerator<Row> {
  // Only if there is a table: together they take 30 ms to load.
  const { pipeline, Readable } = await import("node:stream");
  const { CsvError, parse } = await import("csv-parse");
  const { beginning, all } = await readBeginning(pieces);
  const delimiter = csvSeparator(firstLine(beginning));
  const parser = parse({ bom: true, delimiter, info: true, skip_empty_lines: true });
  pipeline(Readable.from(all), parser, () => {}); // a failure is thrown by the parser below
  let names: string[] | undefined;
  let line = 1;
  try {
    for await (const { record, info } of parser) {
      if (names) yield { line, cells: toCells(names, record) };
      else names = requireDistinct(record);
      line = info.lines + 1;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser is ahead of whoever reads the rows, and knows better where it failed.
    const { message, lines = line } = error as ParserError & { lines?: number };
    throw new ImportError(lines, message);
  }
  if (!names) throw new ImportError(1, "there is no row with the names of the columns");
}

function firstLine(text: string): string {
  return text.trimStart().split(/[\r\n]/, 1)[0]!;
}

/** Columns without a name may be several: spreadsheets add them at the end. */
function requireDistinct(names: string[]): string[] {
  const again = names.find((name, index) => name !== "" && names.indexOf(name) !== index);
  if (again === undefined) return names;
  throw new ImportError(1, `there are several columns ${again}; name them differently`);
}

function toCells(names: string[], record: string[]): Row["cells"] {
  return Object.fromEntries(names.map((name, index) => [name, record[index] ?? ""]));
}
