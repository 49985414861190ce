import type { ExportFormat, ExportSource } from "../export/format.ts";
import { exportFormats } from "../export/mod.ts";
import { UsageError } from "./command.ts";
import type { CliWorld } from "./world.ts";

/** A file, and the format that its ending names. */
export interface Output {
  path: string;
  format: ExportFormat;
}

/**
 * Checks before anything is paid for that the files can be written. Throws `UsageError` for an
 * ending that names no format.
 */
export async function planOutputs(paths: string[], world: CliWorld): Promise<Output[]> {
  const outputs = paths.map((path): Output => ({ path, format: formatOfFile(path) }));
  for (const { path } of outputs) await world.requireWritable(path);
  return outputs;
}

/** Writes a run into each file, and says so. */
export async function writeOutputs(
  outputs: Output[],
  { source, world }: { source: ExportSource; world: CliWorld },
): Promise<void> {
  for (const { path, format } of outputs) {
    await world.writeText(path, format.write(source));
    world.err.write(`wrote ${path}\n`);
  }
}

function formatOfFile(path: string): ExportFormat {
  const found = exportFormats.find(({ extension }) => path.toLowerCase().endsWith(`.${extension}`));
  if (found) return found;
  const endings = exportFormats.map(({ extension }) => `.${extension}`).join(" ");
  throw new UsageError(`cannot write ${path}: its ending must be one of ${endings}`);
}
