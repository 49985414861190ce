import type { FieldError } from "../../shared/service/errors.ts";
import { type Fields, filterFields } from "../../shared/service/fields.ts";
import {
  COLUMN_FIELDS,
  detectFormat,
  findFormat,
  FORMATS,
  mapColumn,
} from "../test/datasets/detect.ts";
import { json, jsonl } from "../test/formats/assay.ts";
import { csv } from "../test/formats/csv.ts";
import { type ColumnMapping, type DatasetFormat, ImportError } from "../test/formats/format.ts";
import { parseLine, parseText, readLines, readWhole } from "../test/formats/lines.ts";
import { importScenarios, type SkippedPart } from "../test/datasets/import_scenarios.ts";
import { printable } from "../report/text/text_form.ts";
import { Refused } from "./api.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";

/** The formats for `--help`. */
export const FORMATS_HELP = FORMATS.map(({ name, about }) =>
  `                     ${name}: ${about}\n`
).join("");

/** `tests/support.jsonl` → `support`. */
export function fileName(path: string): string | undefined {
  if (path === "-") return undefined;
  return path.split(/[\\/]/).at(-1)!.replace(/\.[^.]+$/, "") || undefined;
}

/** A file as the command line names it. */
interface BatchFile {
  text: string;
  name: string;
  /** Detected if it is unset. */
  format?: string | undefined;
  /** `FIELD=COLUMN`, such as `user_message=question` or `metadata.intent=label`. */
  columns?: string[] | undefined;
  /** Reads other files that the file names, by their paths from where it is. */
  readFile?: (path: string) => Promise<string>;
  /** Whether what a model said in the file is kept as the reply. */
  hasReplies?: boolean;
}

/** The body of a request, not yet validated. */
export interface Batch {
  body: Fields;
  /** What of the file has no counterpart. */
  leftOut: SkippedPart[];
  /** The line of each scenario, if each has one. */
  lines?: number[];
}

/** Reads a file of any format. Throws `UsageError` if it cannot be used. */
export async function readBatch(
  { text, name, format: wanted, columns: mapped = [], readFile, hasReplies }: BatchFile,
): Promise<Batch> {
  if (/^\ufeff?\s*$/.test(text)) throw new UsageError("cannot use the batch: it is empty");
  const columns = parseColumns(mapped);
  const format = wanted === undefined
    ? detectFormat(text, { name, columns })
    : requireFormat(wanted);
  requireTable(format.name, mapped);
  const pieces = ReadableStream.from([text]);
  try {
    if (format === json) return { body: toBody(parseText(await readWhole(pieces))), leftOut: [] };
    if (format === jsonl) {
      const lines = await Array.fromAsync(readLines(pieces));
      const body = { test_batch: lines.map(parseLine) };
      return { body, leftOut: [], lines: lines.map(({ number }) => number) };
    }
    const file = importScenarios(pieces, { format, columns, readFile, hasReplies });
    const test_batch = await Array.fromAsync(file.scenarios, ({ scenario }) => scenario);
    return { body: { test_batch }, leftOut: file.leftOut() };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    throw new UsageError(`cannot use the batch (read as ${format.name}): ${error.message}`);
  }
}

/**
 * Reads files whose paths begin where another file is. Throws `UsageError` if they are neither below
 * that folder nor below the current one: whoever wrote the file could send any other of the machine
 * to an endpoint.
 */
export function createFileReader(
  path: string,
  { readText, realPath }: Pick<CliContext, "readText" | "realPath">,
): (name: string) => Promise<string> {
  const folder = /^.*[/\\]/.exec(path)?.[0] ?? "";
  return async (name) => {
    const file = /^(?:[/\\]|[a-z]:[/\\])/i.test(name) ? name : `${folder}${name}`;
    const real = await realPath(file);
    const own = await realPath(folder || ".");
    const current = await realPath(".");
    // The current folder may be a home folder, whose hidden folders contain keys.
    const isHidden = /[/\\]\./.test(real.slice(current.length));
    if (!isBelow(real, own) && (isHidden || !isBelow(real, current))) {
      throw new UsageError(
        `cannot read ${file}: it is outside ${own}; put it there, or run the command in a ` +
          "folder that has both",
      );
    }
    return await readText(file);
  };
}

function isBelow(path: string, folder: string): boolean {
  const root = folder.replace(/[/\\]$/, "");
  return path.startsWith(root) && /^[/\\]/.test(path.slice(root.length));
}

/** The format that `--format` names. Throws `UsageError`. */
export function requireFormat(name: string): DatasetFormat {
  const format = findFormat(name);
  if (format) return format;
  const names = FORMATS.map(({ name }) => name).join(", ");
  throw new UsageError(`cannot use --format ${name}: the formats are ${names}`);
}

/** Throws `UsageError` if columns are named and the file is no table. */
export function requireTable(format: string, mapped: string[]): void {
  if (mapped.length === 0 || format === csv.name) return;
  throw new UsageError(`--column is for tables (csv), and the file is read as ${format}`);
}

/** Reads `FIELD=COLUMN` options. Throws `UsageError`. */
export function parseColumns(mapped: string[]): ColumnMapping {
  let columns: ColumnMapping = {};
  for (const text of mapped) {
    const [, field = "", column = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    const known = mapColumn(columns, { field, column });
    if (!known) {
      throw new UsageError(
        `cannot use --column ${text}: write FIELD=COLUMN, with ${COLUMN_FIELDS} as FIELD`,
      );
    }
    columns = known;
  }
  return columns;
}

export function reportLeftOut(leftOut: SkippedPart[], { err }: Pick<CliContext, "err">): void {
  for (const { what, count, line } of leftOut) {
    const often = count === 1 ? "" : `${count} times, `;
    err.write(`left out: ${printable(what)} (${often}first in line ${line})\n`);
  }
}

/**
 * A body with the values of the command line, which override its own: models of the command line
 * replace all that it names.
 */
export function withOptions(
  body: Fields,
  { model = [], ...options }: Fields & { model?: string[] },
) {
  const { model_id: _, model_ids: __, targets: ___, ...rest } = body;
  const models = model.length > 1 ? { model_ids: model } : { model_id: model[0] };
  return { ...model.length > 0 ? { ...rest, ...models } : body, ...filterFields(options, isSet) };
}

const isSet = (value: unknown) => value !== undefined;

/** An error of the service about a body, with the file's lines and the options of its fields. */
export function explainRefusal(error: unknown, lines?: number[]): unknown {
  if (!(error instanceof Refused) || error.errors.length === 0) return error;
  const errors = error.errors.map((one) => describe(atLine(one, lines)));
  return new UsageError(`cannot use the batch:\n${errors.join("\n")}`);
}

/** `line 7, interactions.0.id` for `test_batch.3.interactions.0.id`. */
function atLine({ path, message }: FieldError, lines: number[] | undefined): FieldError {
  const [, index, rest = ""] = /^test_batch\.(\d+)\.?(.*)$/.exec(path) ?? [];
  const line = lines?.[Number(index)];
  if (line === undefined) return { path, message };
  return { path: rest === "" ? `line ${line}` : `line ${line}, ${rest}`, message };
}

const OPTION_OF: Record<string, string> = {
  endpoint: " (--endpoint URL)",
  model_id: " (--model ID)",
  model_ids: " (--model ID)",
  attempts: " (--attempts N)",
  history: " (--history H)",
  protocol: " (--protocol P)",
  only: " (--only WHICH)",
};

function describe({ path, message }: FieldError): string {
  return `  ${path}${OPTION_OF[path] ?? ""}: ${message}`;
}

function toBody(value: unknown): Fields {
  if (Array.isArray(value)) return { test_batch: value };
  if (typeof value === "object" && value !== null) {
    if ("test_batch" in value) return { ...value };
    if ("interactions" in value) return { test_batch: [value] };
  }
  throw new UsageError(
    "cannot use the batch: it must hold one request body, an array of scenarios, or one scenario " +
      "per line",
  );
}
