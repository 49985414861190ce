import { createShapeGauge } from "../../../shared/http/json_shape.ts";
import { type DatasetFormat, ImportError } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";
import { parseLine, readLines, readWhole } from "./lines.ts";

/** Our own scenarios, one per line. */
export const jsonl: DatasetFormat = {
  name: "jsonl",
  about: "one scenario per line",
  async *read(pieces) {
    for await (const line of readLines(pieces)) {
      yield { line: line.number, scenario: parseLine(line) };
    }
  },
};

/** Our own scenarios in one JSON value. */
export const json: DatasetFormat = {
  name: "json",
  about: "an array of scenarios, one scenario, or an object whose test_batch holds them",
  isWhole: true,
  async *read(pieces) {
    const text = await readWhole(pieces);
    createShapeGauge((reason) => new ImportError(1, reason)).add(text);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new ImportError(lineOfError(text, error), (error as Error).message);
    }
    for (const scenario of toScenarios(value)) yield { line: 1, scenario };
  },
};

function toScenarios(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isFields(value)) throw new ImportError(1, "it is neither an array nor an object");
  return "test_batch" in value ? toScenarios(value.test_batch) : [value];
}

/** The line that a syntax error names by its position; 1 if it names none. */
function lineOfError(text: string, error: unknown): number {
  const position = /position (\d+)/.exec((error as Error).message)?.[1];
  return position === undefined ? 1 : text.slice(0, Number(position)).split("\n").length;
}
