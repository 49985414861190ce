import { csv, USER_MESSAGE } from "./formats/csv.ts";
import { json, jsonl } from "./formats/assay.ts";
import type { DatasetFormat } from "./formats/format.ts";
import { isExample, isLangSmith, langsmith } from "./formats/langsmith.ts";
import { csvSeparator } from "./csv_separator.ts";
import { type Fields, isFields, tryParseJson } from "../../shared/fields.ts";
import { findObjects, MAX_CHARACTERS } from "../../shared/json_objects.ts";
import { isSample, openaiEvals } from "./formats/openai_evals.ts";
import { promptfoo } from "./formats/promptfoo.ts";
import { isTestLine, isTestTable } from "./formats/promptfoo_table.ts";
import type { ColumnMapping } from "./formats/format.ts";

/** Every format, by the name that callers give. */
export const FORMATS: readonly DatasetFormat[] = [
  jsonl,
  json,
  csv,
  promptfoo,
  openaiEvals,
  langsmith,
];

/** JSON over several lines: a configuration, or its tests alone, with texts at most before that. */
const PROMPTFOO =
  /^(?:\{[^{}[\]]*"(?:prompts|tests|scenarios|providers|targets|defaultTest)"|\[\s*\{[^{}[\]]*"(?:vars|assert)")\s*:/;
const OURS = /"(?:interactions|test_batch)"\s*:/;

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
export function detectFormat(beginning: string, { name = "", columns = {} }: FileHints = {}) {
  const start = beginning.replace(/^\ufeff/, "").trimStart();
  const [firstLine = ""] = start.split("\n", 1);
  if (/\.ya?ml$/i.test(name)) return promptfoo;
  if (/\.(?:csv|tsv)$/i.test(name) || Object.keys(columns).length > 0) {
    return detectTable(firstLine, columns);
  }
  if (start === "") return jsonl;
  if (!/^[[{]/.test(start)) {
    return /^[\w"' .-]+(?:[,;\t][\w"' .-]+)+\r?$/.test(firstLine)
      ? detectTable(firstLine, columns)
      : promptfoo;
  }
  const value = tryParseJson(firstLine);
  if (isFields(value)) {
    if ("tests" in value || "scenarios" in value || isTestLine(firstLine)) return promptfoo;
    return "test_batch" in value ? json : ofOtherTool(value) ?? jsonl;
  }
  if (PROMPTFOO.test(start) && !OURS.test(start)) return promptfoo;
  const [first] = start.startsWith("[") ? findObjects(start.slice(0, MAX_CHARACTERS)) : [];
  const isItem = first && start.slice(1, first.start).trim() === "";
  return isItem && ofOtherTool(first.value) || json;
}

/** The tool whose dataset a value is part of; `undefined` if it may be ours. */
function ofOtherTool(value: Fields): DatasetFormat | undefined {
  if ("interactions" in value || "test_batch" in value) return undefined;
  return isExample(value) ? langsmith : isSample(value) ? openaiEvals : undefined;
}

function detectTable(header: string, columns: ColumnMapping): DatasetFormat {
  const names = header.trim().split(csvSeparator(header)).map((name) =>
    name.trim().replace(/^"(.*)"$/, "$1").trim()
  );
  // Our own exports have input_tokens and output_tokens, too.
  const isOurs = Object.keys(columns).length > 0 || names.includes(USER_MESSAGE);
  if (!isOurs && isTestTable(header)) return promptfoo;
  return !isOurs && isLangSmith(names) ? langsmith : csv;
}
