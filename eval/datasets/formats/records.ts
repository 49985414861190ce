import { ImportError } from "./format.ts";
import { parseLine, parseWhole, readBeginning, readLines } from "./lines.ts";

/** One of the values that a file of another tool holds. */
export interface JsonRecord {
  /** Where it begins; 1 for all of an array. */
  line: number;
  /** Tells it from the others of the file. */
  name: string;
  value: unknown;
}

/** Characters of an array, which is read as a whole. */
const LONGEST_ARRAY = 16_000_000;

/** The values of a file that has one per line, or all in one JSON array. */
export async function* readRecords(pieces: AsyncIterable<string>): AsyncGenerator<JsonRecord> {
  const { beginning, all } = await readBeginning(pieces);
  if (!/^\ufeff?\s*\[/.test(beginning)) {
    for await (const line of readLines(all)) {
      yield { line: line.number, name: `line-${line.number}`, value: parseLine(line) };
    }
    return;
  }
  let text = "";
  for await (const piece of all) {
    text += piece;
    if (text.length > LONGEST_ARRAY) {
      throw new ImportError(
        1,
        `an array may have ${LONGEST_ARRAY} characters; write one value per line instead`,
      );
    }
  }
  const values = parseWhole(text.replace(/^\ufeff/, "")) as unknown[];
  for (const [index, value] of values.entries()) {
    yield { line: 1, name: `sample-${index + 1}`, value };
  }
}
