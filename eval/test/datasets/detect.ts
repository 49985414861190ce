import { type Fields, isFields, tryParseJson } from "../../../shared/service/fields.ts";
import { findObjects, MAX_CHARACTERS } from "../../score/json_objects.ts";
import { csvSeparator } from "./csv_rules.ts";
import { json, jsonl } from "../formats/assay.ts";
import { csv } from "../formats/csv.ts";
import type { ColumnMapping, DatasetFormat } from "../formats/format.ts";
import { inspect } from "../formats/inspect.ts";
import { openaiGraders } from "../formats/openai_graders.ts";
import { promptfoo } from "../formats/promptfoo.ts";
import { promptfooResults } from "../formats/promptfoo_results.ts";
import { langsmith, openaiEvals } from "../formats/samples.ts";

/**
 * Every format, by the name that callers give. A file is read by the last that recognises it: those
 * of other tools are tried before ours.
 */
export const FORMATS: readonly DatasetFormat[] = [
  jsonl,
  json,
  csv,
  promptfoo,
  openaiEvals,
  langsmith,
  openaiGraders,
  promptfooResults,
  inspect,
];

export function findFormat(name: string): DatasetFormat | undefined {
  return FORMATS.find((format) => format.name === name);
}

/** What is known of a file before it is read. */
export interface FileHints {
  /** The file's name; its extension counts. */
  name?: string | undefined;
  columns?: ColumnMapping | undefined;
}

/** The format of a file by its name and its beginning, which should have a few thousand characters. */
export function detectFormat(
  beginning: string,
  { name = "", columns: mapping = {} }: FileHints = {},
): DatasetFormat {
  const start = beginning.replace(/^\ufeff/, "").trimStart();
  const [firstLine = ""] = start.split("\n", 1);
  const hasMapping = Object.keys(mapping).length > 0;
  const isTable = /\.(?:csv|tsv)$/i.test(name) || hasMapping || TABLE.test(firstLine);
  const line = isTable ? undefined : tryParseJson(firstLine);
  const file = {
    name,
    start,
    first: isFields(line) ? line : isTable ? undefined : firstItem(start),
    isLine: isFields(line),
    columns: isTable ? columnsOf(firstLine) : undefined,
    hasMapping,
  };
  return FORMATS.findLast((format) => format.recognises(file)) ?? json;
}

/** Names with separators between them. */
const TABLE = /^(?![[{])[\w"' .-]+(?:[,;\t][\w"' .-]+)+\r?$/;

/** The first item of a JSON array, if it is an object. */
function firstItem(start: string): Fields | undefined {
  if (!start.startsWith("[")) return undefined;
  const [first] = findObjects(start.slice(0, MAX_CHARACTERS));
  return first && start.slice(1, first.start).trim() === "" ? first.value : undefined;
}

function columnsOf(header: string): string[] {
  return header.trim().split(csvSeparator(header))
    .map((name) => name.trim().replace(/^"(.*)"$/, "$1").trim());
}

const FIELD = /^(?:user_message|reference_reply|system_prompt|scenario_id)$/;
const METADATA = "metadata.";

/** The fields that a column can hold, in words for people. */
export const COLUMN_FIELDS =
  "user_message, reference_reply, system_prompt, scenario_id or metadata.NAME";

/** The mapping with one more column; `undefined` if there is no such field. */
export function mapColumn(
  columns: ColumnMapping,
  { field, column }: { field: string; column: string },
): ColumnMapping | undefined {
  if (column === "") return undefined;
  if (field.startsWith(METADATA) && field !== METADATA) {
    const name = field.slice(METADATA.length);
    return { ...columns, metadata: { ...columns.metadata, [name]: column } };
  }
  return FIELD.test(field) ? { ...columns, [field]: column } : undefined;
}
