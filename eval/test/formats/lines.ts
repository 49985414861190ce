import { createShapeGauge } from "../../../shared/service/fields.ts";
import { ImportError } from "./format.ts";

/** Characters of one line: a file without line ends is not collected without bound. */
export const LONGEST_LINE = 16_000_000;

/** How much is read to tell what a file is: a line, but not more than this. */
const LONGEST_BEGINNING = 1_000_000;
const SHORTEST_BEGINNING = 4_096;

export interface Line {
  /** Counted from 1. */
  number: number;
  text: string;
}

/** The lines of a text that arrives in pieces, without empty ones and without a byte-order mark. */
export async function* readLines(pieces: AsyncIterable<string>): AsyncGenerator<Line> {
  let rest = "";
  let number = 1;
  for await (const piece of pieces) {
    rest += number === 1 && rest === "" ? piece.replace(/^\ufeff/, "") : piece;
    // Only what is new is searched: a line of megabytes comes in hundreds of pieces.
    if (piece.includes("\n")) {
      const lines = rest.split("\n");
      rest = lines.pop()!;
      for (const text of lines) {
        if (text.trim() !== "") yield { number, text };
        number++;
      }
    }
    if (rest.length > LONGEST_LINE) {
      throw new ImportError(number, `it is longer than ${LONGEST_LINE} characters`);
    }
  }
  if (rest.trim() !== "") yield { number, text: rest };
}

/** The whole of a text that arrives in pieces. */
export async function readWhole(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text.replace(/^\ufeff/, "");
}

/** A line's JSON value. Throws `ImportError` if it is invalid. */
export function parseLine({ number, text }: Line): unknown {
  createShapeGauge((reason) => new ImportError(number, reason)).add(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError(number, `it is not JSON: ${(error as Error).message}`);
  }
}

/** Reads a whole text as JSON. Also throws if it has too many values or is nested too deeply. */
export function parseWhole(text: string): unknown {
  createShapeGauge((reason) => new ImportError(1, reason)).add(text);
  return parseText(text);
}

/** The JSON value of a whole text, of any size. Throws `ImportError` if it is invalid. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError(lineOfError(text, error), `it is not JSON: ${(error as Error).message}`);
  }
}

/** The line that a syntax error names by its position; 1 if it names none. */
function lineOfError(text: string, error: unknown): number {
  const position = /position (\d+)/.exec((error as Error).message)?.[1];
  return position === undefined ? 1 : text.slice(0, Number(position)).split("\n").length;
}

/** The beginning of a text, at least its first line, and all of it. */
export async function readBeginning(
  pieces: AsyncIterable<string>,
): Promise<{ beginning: string; all: AsyncGenerator<string> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  let beginning = "";
  let hasLine = false;
  let isOver = false;
  while (!isOver && beginning.length < LONGEST_BEGINNING) {
    if (beginning.length >= SHORTEST_BEGINNING && hasLine) break;
    const { done, value = "" } = await iterator.next();
    if (done) isOver = true;
    beginning += value;
    hasLine ||= value.includes("\n");
  }
  async function* all(): AsyncGenerator<string> {
    try {
      yield beginning;
      while (!isOver) {
        const { done, value } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { beginning, all: all() };
}

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
