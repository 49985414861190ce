import type { FieldError } from "../../shared/service/errors.ts";
import { listFieldErrors } from "../../shared/service/field_errors.ts";
import type { z } from "zod";
import {
  type EvaluateRequest,
  evaluateRequest,
  hasReply,
  MAX_TARGETS,
  type NamedTarget,
  severalModels,
} from "../test/evaluate_request.ts";
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
import { takeReplies } from "../test/datasets/given_replies.ts";
import { printable } from "../report/text/text_form.ts";
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

/** Values from the command line. They override those of a request body. */
export interface BatchOptions {
  endpoint?: string | undefined;
  model_id?: string;
  /** Several instead of one. */
  model_ids?: string[];
  attempts?: number;
  test_name?: string;
  history?: string;
  protocol?: string;
  pass_threshold?: number;
  budget?: EvaluateRequest["budget"];
}

/** A request. If it names several models, it is that of the first of `targets`. */
interface BatchRequest {
  request: EvaluateRequest;
  targets?: NamedTarget[];
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
}

interface RequestContext {
  options: BatchOptions;
  maxAttempts: number;
  /** Whether what a model said in the file is the reply: to be scored, or for other conversations. */
  replies?: "scored" | "read";
}

/**
 * Reads a request from a file of any format. `leftOut` says what of the file has no counterpart.
 * Throws `UsageError` if the file cannot be used.
 */
export async function readBatch(
  { text, name, format: wanted, columns: mapped = [], readFile }: BatchFile,
  context: RequestContext,
): Promise<BatchRequest & { leftOut: SkippedPart[] }> {
  if (/^\ufeff?\s*$/.test(text)) throw new UsageError("cannot use the batch: it is empty");
  const columns = parseColumns(mapped);
  const format = wanted === undefined
    ? detectFormat(text, { name, columns })
    : requireFormat(wanted);
  requireTable(format.name, mapped);
  const pieces = ReadableStream.from([text]);
  try {
    if (format === json) {
      return { ...toRequest(toBody(parseText(await readWhole(pieces))), context), leftOut: [] };
    }
    if (format === jsonl) {
      const lines = await Array.fromAsync(readLines(pieces));
      const own = { ...context, lines: lines.map(({ number }) => number) };
      return { ...toRequest({ test_batch: lines.map(parseLine) }, own), leftOut: [] };
    }
    const hasReplies = context.replies !== undefined;
    const file = importScenarios(pieces, { format, columns, readFile, hasReplies });
    const test_batch = await Array.fromAsync(file.scenarios, ({ scenario }) => scenario);
    return { ...toRequest({ test_batch }, context), leftOut: file.leftOut() };
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

/** A request of a batch that is not validated. Throws `UsageError` with every field that is wrong. */
export function toRequest(
  batch: Record<string, unknown>,
  { options, maxAttempts, replies, lines }: RequestContext & {
    /** The file's line of each scenario, if it has one per line. */
    lines?: number[] | undefined;
  },
): BatchRequest {
  function parse<T>(schema: z.ZodType<T>, value: unknown): T {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const errors = listFieldErrors(result.error, value)
      .map((error) => describe(atLine(error, lines)));
    throw new UsageError(`cannot use the batch:\n${errors.join("\n")}`);
  }

  const body = { ...withoutModels(batch, options), ...options };
  if (replies && !hasReply(body)) {
    throw new UsageError("cannot score the file: no conversation in it has a reply (agent_reply)");
  }
  const Several = severalModels(body, MAX_TARGETS);
  if (!Several) {
    const request = parse(evaluateRequest(maxAttempts), body);
    return { request: replies === "read" ? request : takeReplies(request, { maxAttempts }) };
  }
  const { targets, first } = parse(Several, body);
  return { request: parse(evaluateRequest(maxAttempts), first), targets };
}

/** Models of the command line replace all that the body names. */
function withoutModels(
  batch: Record<string, unknown>,
  { model_id, model_ids }: BatchOptions,
): Record<string, unknown> {
  if (model_id === undefined && model_ids === undefined) return batch;
  const { model_id: _, model_ids: __, targets: ___, ...rest } = batch;
  return rest;
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
};

function describe({ path, message }: FieldError): string {
  return `  ${path}${OPTION_OF[path] ?? ""}: ${message}`;
}

function toBody(value: unknown): Record<string, unknown> {
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
