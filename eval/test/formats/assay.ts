import { type DatasetFormat, ImportError } from "./format.ts";
import { isFields } from "../../../shared/service/fields.ts";
import { loadApart } from "../../../shared/service/waiting.ts";
import { parseLine, parseWhole, readLines, readWhole } from "./lines.ts";

/** Our own scenarios, one per line. */
export const jsonl: DatasetFormat = {
  name: "jsonl",
  about: "one scenario per line",
  isOwn: true,
  recognises: ({ start, first, isLine }) =>
    start === "" || (isLine && first !== undefined && !("test_batch" in first)),
  async *read(pieces) {
    for await (const line of readLines(pieces)) {
      yield { line: line.number, scenario: parseLine(line) };
    }
  },
};

/** Our own scenarios in one value of JSON or YAML. */
export const json: DatasetFormat = {
  name: "json",
  about: "a request body, an array of scenarios, or one; also YAML",
  recognises: ({ start, first, isLine }) =>
    /^[[{]/.test(start) && (!isLine || "test_batch" in first!),
  isWhole: true,
  isOwn: true,
  async *read(pieces) {
    const text = await readWhole(pieces);
    const value = /^\s*[[{]/.test(text) ? parseWhole(text) : await parseAsYaml(text);
    for (const scenario of toScenarios(value)) yield { line: 1, scenario };
  },
};

/** The package for YAML takes long to load. */
async function parseAsYaml(text: string): Promise<unknown> {
  const { readYaml } = await loadApart(() => import("./bounded_yaml.ts"));
  return readYaml(text).root;
}

function toScenarios(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isFields(value)) throw new ImportError(1, "it is neither an array nor an object");
  return "test_batch" in value ? toScenarios(value.test_batch) : [value];
}
