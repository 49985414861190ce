import { createShapeGauge } from "../../../shared/http/json_shape.ts";
import { ImportError } from "./format.ts";

/** Characters of one line: a file without line ends is not collected without bound. */
const LONGEST_LINE = 16_000_000;

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
    const lines = rest.split("\n");
    rest = lines.pop()!;
    for (const text of lines) {
      if (text.trim() !== "") yield { number, text };
      number++;
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

/** A line's JSON value; `ImportError` if it is none. */
export function parseLine({ number, text }: Line): unknown {
  createShapeGauge((reason) => new ImportError(number, reason)).add(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError(number, `it is not JSON: ${(error as Error).message}`);
  }
}
