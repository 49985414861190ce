import type { ExportFormat } from "../report/format.ts";
import type { Api, Query } from "./api.ts";
import { UsageError } from "./command.ts";
import { clearLine, type CliContext } from "./context.ts";

/** A file, and the format that its extension names. */
export interface Output {
  path: string;
  format: ExportFormat;
}

/**
 * Checks that the files can be written, before a run costs anything. Throws `UsageError` for an
 * unknown extension.
 */
export async function planOutputs(paths: string[], context: CliContext): Promise<Output[]> {
  if (paths.length === 0) return [];
  const { exportFormats } = await import("../report/export_formats.ts"); // most runs write no file
  const outputs = paths.map((path) => ({ path, format: formatOfFile(path, exportFormats) }));
  for (const { path } of outputs) await context.requireWritable(path);
  return outputs;
}

/**
 * Writes what the service answers at a path, in each file's format. All files that can be written
 * are, then it throws `UsageError` with those that cannot.
 */
export async function writeOutputs(
  outputs: Output[],
  { api, context, path, query }: { api: Api; context: CliContext; path: string; query: Query },
): Promise<void> {
  const failures: string[] = [];
  const { err } = context;
  const clear = clearLine(err);
  for (const output of outputs) {
    // The report of a large run takes some seconds.
    if (err.isTerminal) err.write(`writing ${output.path}`);
    try {
      const pieces = api.pieces(`GET ${path}`, { query: { ...query, format: output.format.name } });
      await context.writeText(output.path, pieces);
      err.write(`${clear}wrote ${output.path}\n`);
    } catch (error) {
      err.write(clear);
      if (!(error instanceof UsageError)) throw error;
      failures.push(error.message);
    }
  }
  if (failures.length > 0) throw new UsageError(failures.join("\n"));
}

function formatOfFile(path: string, formats: readonly ExportFormat[]): ExportFormat {
  const longestFirst = formats.toSorted((a, b) => b.extension.length - a.extension.length);
  const found = longestFirst.find(({ extension }) => path.toLowerCase().endsWith(`.${extension}`));
  if (found) return found;
  const extensions = formats.map(({ extension }) => `.${extension}`).join(" ");
  throw new UsageError(`cannot write ${path}: its extension must be one of ${extensions}`);
}
