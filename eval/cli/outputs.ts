import type { ExportFormat, ExportSource } from "../export/format.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";

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
  const { exportFormats } = await import("../export/mod.ts"); // most runs write no file
  const outputs = paths.map((path) => ({ path, format: formatOfFile(path, exportFormats) }));
  for (const { path } of outputs) await context.requireWritable(path);
  return outputs;
}

/** Writes a run into each file, and says so. */
export async function writeOutputs(
  outputs: Output[],
  { source, context }: { source: ExportSource; context: CliContext },
): Promise<void> {
  for (const { path, format } of outputs) {
    await context.writeText(path, format.write(source));
    context.err.write(`wrote ${path}\n`);
  }
}

function formatOfFile(path: string, formats: readonly ExportFormat[]): ExportFormat {
  const found = formats.find(({ extension }) => path.toLowerCase().endsWith(`.${extension}`));
  if (found) return found;
  const extensions = formats.map(({ extension }) => `.${extension}`).join(" ");
  throw new UsageError(`cannot write ${path}: its extension must be one of ${extensions}`);
}
