import type { ExportFormat, ExportSource } from "../export/format.ts";
import { exportFormats } from "../export/mod.ts";
import { UsageError } from "./command.ts";
import type { CliContext } from "./context.ts";

/** A file, and the format that its ending names. */
export interface Output {
  path: string;
  format: ExportFormat;
}

/**
 * Checks before anything is paid for that the files can be written. Throws `UsageError` for an
 * ending that names no format.
 */
export async function planOutputs(paths: string[], context: CliContext): Promise<Output[]> {
  const outputs = paths.map((path): Output => ({ path, format: formatOfFile(path) }));
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

function formatOfFile(path: string): ExportFormat {
  const found = exportFormats.find(({ extension }) => path.toLowerCase().endsWith(`.${extension}`));
  if (found) return found;
  const endings = exportFormats.map(({ extension }) => `.${extension}`).join(" ");
  throw new UsageError(`cannot write ${path}: its ending must be one of ${endings}`);
}
